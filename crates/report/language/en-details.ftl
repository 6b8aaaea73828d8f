# What a report says in English alone as yet: sentences of the sections besides "At a glance" and the verdicts.

## Method

method-rules = { $rules ->
        [one] The rule that was applied:
       *[other] The rules that were applied:
    }
method-rules-in-report = The rule that was applied is in the full report: { $command }
method-file-size = A small file may fit a cache of the storage and then shows the cache. No figure here holds for another file size.
method-no-doubt-of-the-verdict = There is no reason to doubt the verdict.
method-no-doubt-of-a-figure = There is no reason to doubt a figure.
method-headroom = Without any I/O this program makes { $ceiling } I/Os a second on this host. The largest rate measured here is { $used } of that.
method-latency-of-tool = As { $tool } tells it; iosonde did not measure it.
method-latency = From submission to completion of one I/O; at a set rate from the moment at which the I/O was due. Every I/O is recorded; a percentile is within 0.8 % of the truth, shortest and longest are exact.
method-promised = The storage had acknowledged the operation as durable, and the witness had stored that on stable media.
method-in-doubt = It may have been written at the moment of the crash: what was promised before, the new version or a mixture of both may be there, and none of it is an error.
method-lost = It does not hold what was promised, nor anything newer. Something between the program and the medium acknowledged what it did not keep.
method-kept = Nothing was lost in this crash. What had left all caches before cannot be lost any more, so one crash says little.
method-shape = A mix of I/Os has the sizes, shares and order of a load: its shape. It is not the application, which waits for one I/O before it makes the next and has a cache of its own; no figure here is one of the application.
