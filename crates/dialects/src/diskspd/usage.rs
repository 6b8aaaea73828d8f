//! An explanation of the options.

/// The options of DiskSpd's command line.
pub const USAGE: &str = "\
Usage: diskspd [options] target [target ...]

Options stand before all targets, each in one word with its value. A target is a file, a block \
device, or a name of Windows that
`--drive` gives a place: `C:\\data.bin`, `C:`, `#1`. In the XML of a profile, `*1` is the first \
target of the command line.
Sizes are digits with at most one of K, M, G, T (powers of 1024) or b (blocks of -b).

What is done
  -b<size>            size of one I/O [64K]
  -r[size]            random I/O, at multiples of this [the block]
  -rs<percent>        this share of the I/Os is random, the others continue after the last one
  -rdpct<io>/<target>[:<io>/<target>...]   random I/O in slices: percent of the I/Os to percent of \
  the target
  -rdabs<io>/<size>[:<io>/<size>...]       the same with lengths of slices
  -s[i][size]         sequential I/O, this far apart [the block]; i: all threads share one cursor
  -p                  each outstanding I/O has its own sequential cursor
  -T<size>            distance of the threads' first I/Os
  -w<percent>         share of writes [0]
  -B<start>[:<length>], -f<end>   the used part of the target
  -c<size>            make the file with this size
  -Z, -Zr, -Z<size>[,<file>]      write zeros, new random bytes each time, or parts of one buffer \
  [bytes 0 to 255]

How much at a time
  -t<n>               threads per target [1]
  -o<n>               outstanding I/Os per target and thread [2]
  -F<n>               threads that share all targets
  -O<n>               with -F, outstanding I/Os of each thread over all targets
  -g<n>[i]            the most that a thread does on a target: bytes in a millisecond, or I/Os in \
  a second with i
  -i<n> -j<ms>        pause this long after every so many I/Os

How long
  -d<s> -W<s> -C<s>   measured window [10], before it [5] and after it [0]
  -z[n]               where random choices start [0]; without a number, somewhere

Through what
  -Sb, -Su, -Sr, -Sm  through the cache [this], past it, past the local one, by mapped memory; w \
  with them writes through
  -Sh, -h             past the cache and written through
  -Nv, -Nn, -Ni       with -Sm, make writes durable
  -a<list>, -n        processors of the threads in turn, with `g<n>,` before those of a group; none
  -I<1|2|3>           priority of I/Os: very low, low, normal

What is shown
  -L                  latencies
  -D[ms]              I/Os in each interval [1000]
  -R[p]<text|xml>     form of the result; p: only the profile
  -v, -vs, -P[n]      messages; how threads waited; a dot after every so many I/Os (all on stderr)
  -ys<f> -yf<f> -yr<f> -yp<f> -ye<f>   events, which are files: made when the window begins, when \
  it ends; waited for; ends the run;
                      made now, and nothing else

Profiles
  -X<file>            do what an XML profile says; with it, only -: -C -d -R -v -W -z and targets

Taken and said to be otherwise here: -x -l -e -vs -fr -fs -ft -: (see docs/diskspd-differences.md).

Exit codes: 0 done; 1 could not run or I/O failed; 3 not understood; 130 interrupted (what was \
measured is shown).
";
