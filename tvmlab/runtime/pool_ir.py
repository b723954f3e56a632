"""The thread pool, written as LLVM IR so that it needs no compiler and costs no library.

Its workers live as long as the process. A caller announces work by moving `epoch`, a 32-bit word
that also says how many workers take part (low bits), so that one read tells a worker whether the
work is its business. Workers wait for a new epoch by spinning, then by futex; the caller does its
own part and waits for `pending` the same way. One caller at a time: who finds the pool busy
(another Python thread, or a parallel loop inside one) does the work alone.
"""

from __future__ import annotations

MAX_WORKERS = 1023
_ACTIVE_BITS = 10

_PAUSE = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
}
_PAUSE_DECLARATION = {
    "x86_64": "declare void @llvm.x86.sse2.pause()",
    "aarch64": "declare void @llvm.aarch64.hint(i32)",
}
_FUTEX = {"x86_64": 202, "aarch64": 98}
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # both private to the process

SYMBOLS = (
    "tvmlab_parallel_for", "tvmlab_parallel_for_dynamic", "tvmlab_serial_for", "tvmlab_repeat",
    "tvmlab_threads", "tvmlab_spin", "tvmlab_started", "tvmlab_reset",
)  # fmt: skip
SERIAL_SYMBOLS = ("tvmlab_serial_for", "tvmlab_repeat")

SERIAL_IR = """
define i32 @tvmlab_serial_for(ptr %body, ptr %ctx, i64 %extent) {
  %some = icmp sgt i64 %extent, 0
  br i1 %some, label %go, label %none
go:
  %code = tail call i32 %body(ptr %ctx, i64 0, i64 %extent)
  ret i32 %code
none:
  ret i32 0
}

; Call a kernel n times: what timing uses, so that Python's share does not count.
define i32 @tvmlab_repeat(ptr %kernel, ptr %args, ptr %parallel_for, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %again ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %again, label %done
again:
  %code = call i32 %kernel(ptr %args, ptr %parallel_for)
  %next = add nsw i64 %i, 1
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %stop, label %loop
stop:
  ret i32 %code
done:
  ret i32 0
}
"""

_POOL_IR = """
@epoch = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64
@pending = internal global i32 0, align 64
@caller_sleeps = internal global i32 0, align 4
@busy = internal global i32 0, align 64
@next = internal global i64 0, align 64
@job = internal global { ptr, ptr, i64, i64 } zeroinitializer, align 64
@result = internal global i32 0, align 64
@tvmlab_threads = global i32 1, align 64
@tvmlab_spin = global i32 20000, align 4
@tvmlab_started = global i32 0, align 4

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i64 @syscall(i64, ...)
$PAUSE_DECLARATION

; Wait until the word differs from old; sleepers counts who waits in the kernel.
define internal void @wait_change(ptr %word, i32 %old, ptr %sleepers) {
entry:
  %limit = load atomic i32, ptr @tvmlab_spin monotonic, align 4
  br label %spin
spin:
  %n = phi i32 [ 0, %entry ], [ %n1, %pause ]
  %now = load atomic i32, ptr %word acquire, align 4
  %changed = icmp ne i32 %now, %old
  br i1 %changed, label %done, label %maybe
maybe:
  %tired = icmp sge i32 %n, %limit
  br i1 %tired, label %sleep, label %pause
pause:
  $PAUSE
  %n1 = add i32 %n, 1
  br label %spin
sleep:
  %s0 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i32 $WAIT, i32 %old, ptr null)
  %s1 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  %now2 = load atomic i32, ptr %word acquire, align 4
  %changed2 = icmp ne i32 %now2, %old
  br i1 %changed2, label %done, label %sleep
done:
  ret void
}

define internal void @wake(ptr %word, ptr %sleepers, i32 %count) {
  %s = load atomic i32, ptr %sleepers seq_cst, align 4
  %any = icmp ne i32 %s, 0
  br i1 %any, label %call, label %done
call:
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr %word, i32 $WAKE, i32 %count)
  br label %done
done:
  ret void
}

; The share of participant `me` of `n`: one equal part, or chunks taken in turn.
define internal void @work(i32 %me, i32 %n) {
entry:
  %body = load ptr, ptr @job, align 8
  %ctx = load ptr, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 1), align 8
  %extent = load i64, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 2), align 8
  %chunk = load i64, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 3), align 8
  %dynamic = icmp sgt i64 %chunk, 0
  br i1 %dynamic, label %take, label %static
static:
  %me64 = zext i32 %me to i64
  %n64 = zext i32 %n to i64
  %each = udiv i64 %extent, %n64
  %rest = urem i64 %extent, %n64
  %before = mul i64 %each, %me64
  %extra = call i64 @llvm.umin.i64(i64 %me64, i64 %rest)
  %begin = add i64 %before, %extra
  %larger = icmp ult i64 %me64, %rest
  %one = zext i1 %larger to i64
  %size = add i64 %each, %one
  %end = add i64 %begin, %size
  %some = icmp sgt i64 %size, 0
  br i1 %some, label %run, label %done
run:
  %code = call i32 %body(ptr %ctx, i64 %begin, i64 %end)
  call void @note(i32 %code)
  br label %done
take:
  %first = atomicrmw add ptr @next, i64 %chunk monotonic
  %left = icmp slt i64 %first, %extent
  br i1 %left, label %piece, label %done
piece:
  %wish = add i64 %first, %chunk
  %last = call i64 @llvm.smin.i64(i64 %wish, i64 %extent)
  %code2 = call i32 %body(ptr %ctx, i64 %first, i64 %last)
  call void @note(i32 %code2)
  br label %take
done:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)

; Keep one code that is not zero.
define internal void @note(i32 %code) {
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %keep, label %done
keep:
  store atomic i32 %code, ptr @result monotonic, align 4
  br label %done
done:
  ret void
}

define internal ptr @worker(ptr %argument) {
entry:
  %packed = ptrtoint ptr %argument to i64
  %me = trunc i64 %packed to i32
  %high = lshr i64 %packed, 32
  %start = trunc i64 %high to i32
  br label %loop
loop:
  %old = phi i32 [ %start, %entry ], [ %now, %served ]
  call void @wait_change(ptr @epoch, i32 %old, ptr @sleepers)
  %now = load atomic i32, ptr @epoch acquire, align 4
  %n = and i32 %now, $ACTIVE_MASK
  %mine = icmp ult i32 %me, %n
  br i1 %mine, label %serve, label %served
serve:
  call void @work(i32 %me, i32 %n)
  %before = atomicrmw sub ptr @pending, i32 1 seq_cst
  %last = icmp eq i32 %before, 1
  br i1 %last, label %tell, label %served
tell:
  call void @wake(ptr @pending, ptr @caller_sleeps, i32 1)
  br label %served
served:
  br label %loop
}

; Start workers until `wanted` threads exist with the caller; returns how many there are.
define internal i32 @ensure(i32 %wanted) {
entry:
  %thread = alloca i64, align 8
  %epoch = load atomic i32, ptr @epoch monotonic, align 4
  %epoch64 = zext i32 %epoch to i64
  %high = shl i64 %epoch64, 32
  br label %check
check:
  %have = load i32, ptr @tvmlab_started, align 4
  %total = add i32 %have, 1
  %enough = icmp sge i32 %total, %wanted
  br i1 %enough, label %done, label %create
create:
  %id = zext i32 %total to i64
  %packed = or i64 %high, %id
  %argument = inttoptr i64 %packed to ptr
  %code = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %argument)
  %ok = icmp eq i32 %code, 0
  br i1 %ok, label %count, label %done
count:
  store i32 %total, ptr @tvmlab_started, align 4
  %handle = load i64, ptr %thread, align 8
  %d = call i32 @pthread_detach(i64 %handle)
  br label %check
done:
  %threads = call i32 @llvm.smin.i32(i32 %total, i32 %wanted)
  ret i32 %threads
}

declare i32 @llvm.smin.i32(i32, i32)

define internal i32 @run(ptr %body, ptr %ctx, i64 %extent, i1 %dynamic) {
entry:
  %wanted = load atomic i32, ptr @tvmlab_threads monotonic, align 4
  %single = icmp sle i32 %wanted, 1
  %short = icmp sle i64 %extent, 1
  %alone0 = or i1 %single, %short
  br i1 %alone0, label %alone, label %lock
lock:
  %pair = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %got = extractvalue { i32, i1 } %pair, 1
  br i1 %got, label %own, label %alone
alone:
  %code0 = tail call i32 @tvmlab_serial_for(ptr %body, ptr %ctx, i64 %extent)
  ret i32 %code0
own:
  %n = call i32 @ensure(i32 %wanted)
  %n64 = zext i32 %n to i64
  %pieces = shl i64 %n64, 3
  %even = sdiv i64 %extent, %pieces
  %chunk0 = call i64 @llvm.smax.i64(i64 %even, i64 1)
  %chunk = select i1 %dynamic, i64 %chunk0, i64 0
  store ptr %body, ptr @job, align 8
  store ptr %ctx, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 1), align 8
  store i64 %extent, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 2), align 8
  store i64 %chunk, ptr getelementptr ({ ptr, ptr, i64, i64 }, ptr @job, i32 0, i32 3), align 8
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i32 0, ptr @result monotonic, align 4
  %others = sub i32 %n, 1
  store atomic i32 %others, ptr @pending monotonic, align 4
  %old = load atomic i32, ptr @epoch monotonic, align 4
  %seq = and i32 %old, $SEQUENCE_MASK
  %seq1 = add i32 %seq, $SEQUENCE_STEP
  %new = or i32 %seq1, %n
  store atomic i32 %new, ptr @epoch seq_cst, align 4
  call void @wake(ptr @epoch, ptr @sleepers, i32 2147483647)
  call void @work(i32 0, i32 %n)
  br label %join
join:
  %left = load atomic i32, ptr @pending acquire, align 4
  %all = icmp eq i32 %left, 0
  br i1 %all, label %joined, label %wait
wait:
  call void @wait_change(ptr @pending, i32 %left, ptr @caller_sleeps)
  br label %join
joined:
  %code = load atomic i32, ptr @result monotonic, align 4
  store atomic i32 0, ptr @busy release, align 4
  ret i32 %code
}

declare i64 @llvm.smax.i64(i64, i64)

define i32 @tvmlab_parallel_for(ptr %body, ptr %ctx, i64 %extent) {
  %code = tail call i32 @run(ptr %body, ptr %ctx, i64 %extent, i1 false)
  ret i32 %code
}

define i32 @tvmlab_parallel_for_dynamic(ptr %body, ptr %ctx, i64 %extent) {
  %code = tail call i32 @run(ptr %body, ptr %ctx, i64 %extent, i1 true)
  ret i32 %code
}

; In a forked child there are no workers, and nobody is inside a parallel loop.
define void @tvmlab_reset() {
  store i32 0, ptr @tvmlab_started, align 4
  store i32 0, ptr @sleepers, align 4
  store i32 0, ptr @caller_sleeps, align 4
  store i32 0, ptr @pending, align 4
  store i32 0, ptr @busy, align 4
  ret void
}
"""


def pool_ir(arch: str) -> str | None:
    """The pool's IR for a Linux machine; None where it cannot be (no futex known)."""
    if arch not in _FUTEX:
        return None
    sequence = (1 << 32) - (1 << _ACTIVE_BITS)
    words = {
        "$PAUSE_DECLARATION": _PAUSE_DECLARATION[arch],
        "$PAUSE": _PAUSE[arch],
        "$FUTEX": str(_FUTEX[arch]),
        "$WAIT": str(_FUTEX_WAIT),
        "$WAKE": str(_FUTEX_WAKE),
        "$ACTIVE_MASK": str((1 << _ACTIVE_BITS) - 1),
        "$SEQUENCE_MASK": str(sequence - (1 << 32)),
        "$SEQUENCE_STEP": str(1 << _ACTIVE_BITS),
    }
    text = _POOL_IR
    for word, value in words.items():
        text = text.replace(word, value)
    return SERIAL_IR + text
