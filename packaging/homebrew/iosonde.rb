class Iosonde < Formula
  desc "Measure and judge storage before a database depends on it"
  homepage "{url}"
  version "{version}"
  license any_of: ["Apache-2.0", "MIT"]

  depends_on :linux

  on_intel do
    url "{url}/iosonde-{version}-x86_64-linux.tar.gz"
    sha256 "{sha256 iosonde-{version}-x86_64-linux.tar.gz}"
  end

  on_arm do
    url "{url}/iosonde-{version}-aarch64-linux.tar.gz"
    sha256 "{sha256 iosonde-{version}-aarch64-linux.tar.gz}"
  end

  def install
    bin.install "iosonde", "diskspd", "iometer", "sqlio", "sqliosim"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/iosonde.bash" => "iosonde"
    fish_completion.install "completions/iosonde.fish"
    zsh_completion.install "completions/_iosonde"
    doc.install "README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/iosonde --version")
    system bin/"iosonde", "run", "--engine", "null", "--seconds", "1", "--no-history"
  end
end
