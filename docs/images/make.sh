#!/bin/bash
# Makes the pictures of the first page of a report again: make.sh BINARY. Needs chromium, pdftoppm and ImageMagick.
set -euo pipefail

binary=$(realpath "$1")
images=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cd "$scratch"
export TZ=UTC IOSONDE_HISTORY=$scratch/history.db

# An SSD behind SATA that is also asked for a little more than it has.
"$binary" assess /data --engine sim --seed 1 --size 64G --pace normal --report report.html --quiet --class sata \
    --need oltp=5000iops,log=2000/s,scan=2000MiBps --sim '
        servers = 8, read_ns = "150us", write_ns = "60us", sync_ns = "60us", durable_ns = "40us",
        link_bytes_per_s = "530M", noise = { run_percent = 1.0, io_percent = 20.0 }' > summary.txt || [ $? = 4 ]

shot() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars "--window-size=$2" "${@:3}" \
        "--screenshot=$scratch/$1.png" "file://$scratch/report.html" 2> chromium.log
    convert "$1.png" -strip -colors 256 "png8:$images/$1.png"
}
shot report 1200,1250
shot report-dark 1200,1250 --blink-settings=preferredColorScheme=0
shot report-phone 500,1250

chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer "--print-to-pdf=$scratch/report.pdf" \
    "file://$scratch/report.html" 2> chromium.log
pdftoppm -png -r 90 -f 1 -l 1 -singlefile report.pdf report-print
convert report-print.png -strip -colors 256 "png8:$images/report-print.png"
ls -l "$images"
