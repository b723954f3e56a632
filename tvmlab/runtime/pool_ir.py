"""The thread pool, written as LLVM IR so that it needs no compiler and costs no library.

Its workers live as long as the process. A caller announces work by moving `epoch`, a 32-bit word
that also says how many workers take part (low bits), so that one read tells a worker whether the
work is its business. Workers wait for a new epoch by spinning, then by futex. Each begins with the
share of its number, then takes shares that nobody has begun: a worker that wakes late, because
its core is busy with something else, delays nobody. `gate` counts the workers inside a loop; the
caller closes it when all shares are taken, and waits for those inside. One caller at a time: who
finds the pool busy (another Python thread, or a parallel loop inside one) does the work alone.

Linux likes to wake a thread on the core of whoever wakes it, where it would wait for the caller to
finish. So sleeping workers are kept off the caller's core before they are woken.
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
_GETTID = {"x86_64": 186, "aarch64": 178}
_SETAFFINITY = {"x86_64": 203, "aarch64": 122}
CPU_WORDS = 16
"""Words of 64 bits in the set of CPUs."""
_MOST_MOVED = 15
"""Workers that are kept off the caller's core; among more cores they seldom meet there."""
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # both private to the process

SYMBOLS = (
    "tvmlab_parallel_for", "tvmlab_parallel_for_dynamic", "tvmlab_serial_for", "tvmlab_repeat",
    "tvmlab_threads", "tvmlab_spin", "tvmlab_started", "tvmlab_reset", "tvmlab_cpus",
    "tvmlab_workers", "tvmlab_run_steps", "tvmlab_run_while",
)  # fmt: skip
SERIAL_SYMBOLS = ("tvmlab_serial_for", "tvmlab_repeat", "tvmlab_run_steps", "tvmlab_run_while")

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

; Call kernels one after another, each with its arguments: a whole graph without Python between.
; Returns 0, or the code of the kernel that failed, above it the kernel's number.
define i64 @tvmlab_run_steps(ptr %calls, ptr %parallel_for, i64 %n) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %again ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %again, label %done
again:
  %entry = getelementptr { ptr, ptr }, ptr %calls, i64 %i
  %kernel = load ptr, ptr %entry, align 8
  %where = getelementptr { ptr, ptr }, ptr %calls, i64 %i, i32 1
  %args = load ptr, ptr %where, align 8
  %code = call i32 %kernel(ptr %args, ptr %parallel_for)
  %next = add nsw i64 %i, 1
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %stop, label %loop
stop:
  %high = shl i64 %i, 32
  %low = zext i32 %code to i64
  %both = or i64 %high, %low
  ret i64 %both
done:
  ret i64 0
}

; Call the same kernels again and again as long as a truth value holds: the addresses of the value
; and of the calls, and their number, are in the slots of a kernel's arguments.
define i32 @tvmlab_run_while(ptr %args, ptr %parallel_for) {
  %holds = load ptr, ptr %args, align 8
  %calls_at = getelementptr i64, ptr %args, i64 1
  %calls = load ptr, ptr %calls_at, align 8
  %count_at = getelementptr i64, ptr %args, i64 2
  %n = load i64, ptr %count_at, align 8
  br label %check
check:
  %truth = load i8, ptr %holds, align 1
  %on = icmp ne i8 %truth, 0
  br i1 %on, label %turn, label %done
turn:
  %failed = call i64 @tvmlab_run_steps(ptr %calls, ptr %parallel_for, i64 %n)
  %well = icmp eq i64 %failed, 0
  br i1 %well, label %check, label %stop
stop:
  %code = trunc i64 %failed to i32
  ret i32 %code
done:
  ret i32 0
}
"""

_POOL_IR = """
@epoch = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64
; The highest bit says that the loop is closed, the others how many workers are inside.
@gate = internal global i32 -2147483648, align 64
@caller_sleeps = internal global i32 0, align 4
@busy = internal global i32 0, align 64
@next = internal global i64 0, align 64
; Body, context, extent, size of a piece (0: static), number of shares, the loop's number.
@job = internal global { ptr, ptr, i64, i64, i32, i32 } zeroinitializer, align 64
; The last loop in which each share was taken.
@taken = internal global [$SHARES x i32] zeroinitializer, align 64
; The CPUs that workers may use (none: do not ask), by number of 64-bit words; worker threads by id.
@tvmlab_cpus = global [$CPU_WORDS x i64] zeroinitializer, align 64
@tvmlab_workers = global [$SHARES x i32] zeroinitializer, align 64
@avoided = internal global i32 -1, align 4
@result = internal global i32 0, align 64
@tvmlab_threads = global i32 1, align 64
@tvmlab_spin = global i32 20000, align 4
@tvmlab_started = global i32 0, align 4

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i64 @syscall(i64, ...)
declare i32 @sched_getcpu()
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

; Let no sleeping worker wake up on the core of this thread.
define internal void @make_way() {
entry:
  %mask = alloca [$CPU_WORDS x i64], align 8
  %s = load atomic i32, ptr @sleepers seq_cst, align 4
  %none = icmp eq i32 %s, 0
  br i1 %none, label %done, label %where
where:
  %cpu = call i32 @sched_getcpu()
  %before = load i32, ptr @avoided, align 4
  %same = icmp eq i32 %cpu, %before
  %started = load i32, ptr @tvmlab_started, align 4
  %many = icmp sgt i32 %started, $MOST_MOVED
  %beyond = icmp uge i32 %cpu, $CPU_BITS
  %no1 = or i1 %same, %many
  %no = or i1 %no1, %beyond
  br i1 %no, label %done, label %prepare
prepare:
  %cpu64 = zext i32 %cpu to i64
  %index = lshr i64 %cpu64, 6
  %place = and i64 %cpu64, 63
  %bit = shl i64 1, %place
  %inverse = xor i64 %bit, -1
  br label %copy
copy:
  %w = phi i64 [ 0, %prepare ], [ %w1, %copy ]
  %some = phi i64 [ 0, %prepare ], [ %some1, %copy ]
  %from = getelementptr i64, ptr @tvmlab_cpus, i64 %w
  %word = load i64, ptr %from, align 8
  %here = icmp eq i64 %w, %index
  %without = and i64 %word, %inverse
  %chosen = select i1 %here, i64 %without, i64 %word
  %to = getelementptr i64, ptr %mask, i64 %w
  store i64 %chosen, ptr %to, align 8
  %some1 = or i64 %some, %chosen
  %w1 = add nuw nsw i64 %w, 1
  %copied = icmp eq i64 %w1, $CPU_WORDS
  br i1 %copied, label %check, label %copy
check:
  %nowhere = icmp eq i64 %some1, 0
  br i1 %nowhere, label %done, label %note
note:
  store i32 %cpu, ptr @avoided, align 4
  br label %each
each:
  %i = phi i32 [ 1, %note ], [ %i1, %next ]
  %more = icmp sle i32 %i, %started
  br i1 %more, label %one, label %done
one:
  %i64 = zext i32 %i to i64
  %id_at = getelementptr i32, ptr @tvmlab_workers, i64 %i64
  %id = load atomic i32, ptr %id_at monotonic, align 4
  %known = icmp ne i32 %id, 0
  br i1 %known, label %move, label %unknown
move:
  %r = call i64 (i64, ...) @syscall(i64 $SETAFFINITY, i32 %id, i64 $CPU_BYTES, ptr %mask)
  br label %next
unknown:  ; it has just been started: ask again next time
  store i32 -1, ptr @avoided, align 4
  br label %next
next:
  %i1 = add i32 %i, 1
  br label %each
done:
  ret void
}

; Work on shares as participant `me`: its own first, then those that nobody has begun.
define internal void @work(i32 %me) {
entry:
  %body = load ptr, ptr @job, align 8
  %ctx = load ptr, ptr getelementptr ($JOB, ptr @job, i32 0, i32 1), align 8
  %extent = load i64, ptr getelementptr ($JOB, ptr @job, i32 0, i32 2), align 8
  %chunk = load i64, ptr getelementptr ($JOB, ptr @job, i32 0, i32 3), align 8
  %n = load i32, ptr getelementptr ($JOB, ptr @job, i32 0, i32 4), align 4
  %round = load i32, ptr getelementptr ($JOB, ptr @job, i32 0, i32 5), align 4
  %n64 = zext i32 %n to i64
  %each = udiv i64 %extent, %n64
  %rest = urem i64 %extent, %n64
  %dynamic = icmp sgt i64 %chunk, 0
  br i1 %dynamic, label %take, label %static
static:
  %tried = phi i32 [ 0, %entry ], [ %tried1, %tried_one ]
  %left_over = icmp ult i32 %tried, %n
  br i1 %left_over, label %try, label %done
try:
  %sum = add i32 %me, %tried
  %wrapped = sub i32 %sum, %n
  %over = icmp uge i32 %sum, %n
  %share = select i1 %over, i32 %wrapped, i32 %sum
  %share64 = zext i32 %share to i64
  %taken_at = getelementptr i32, ptr @taken, i64 %share64
  %last_round = atomicrmw xchg ptr %taken_at, i32 %round acq_rel
  %mine = icmp ne i32 %last_round, %round
  br i1 %mine, label %begin, label %tried_one
begin:
  %before = mul i64 %each, %share64
  %extra = call i64 @llvm.umin.i64(i64 %share64, i64 %rest)
  %first_one = add i64 %before, %extra
  %larger = icmp ult i64 %share64, %rest
  %one = zext i1 %larger to i64
  %size = add i64 %each, %one
  %end = add i64 %first_one, %size
  %some = icmp sgt i64 %size, 0
  br i1 %some, label %run, label %tried_one
run:
  %code = call i32 %body(ptr %ctx, i64 %first_one, i64 %end)
  call void @note(i32 %code)
  br label %tried_one
tried_one:
  %tried1 = add i32 %tried, 1
  br label %static
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
  %me64 = zext i32 %me to i64
  %id_at = getelementptr i32, ptr @tvmlab_workers, i64 %me64
  %id64 = call i64 (i64, ...) @syscall(i64 $GETTID)
  %id = trunc i64 %id64 to i32
  store atomic i32 %id, ptr %id_at monotonic, align 4
  br label %loop
loop:
  %old = phi i32 [ %start, %entry ], [ %now, %served ]
  call void @wait_change(ptr @epoch, i32 %old, ptr @sleepers)
  %now = load atomic i32, ptr @epoch acquire, align 4
  %n = and i32 %now, $ACTIVE_MASK
  %mine = icmp ult i32 %me, %n
  br i1 %mine, label %knock, label %served
knock:
  %seen = load atomic i32, ptr @gate monotonic, align 4
  %closed = icmp slt i32 %seen, 0
  br i1 %closed, label %served, label %enter
enter:
  %more = add i32 %seen, 1
  %pair = cmpxchg ptr @gate, i32 %seen, i32 %more acq_rel monotonic
  %in = extractvalue { i32, i1 } %pair, 1
  br i1 %in, label %inside, label %knock
inside:  ; perhaps of a later loop, with fewer participants
  %shares = load i32, ptr getelementptr ($JOB, ptr @job, i32 0, i32 4), align 4
  %invited = icmp ult i32 %me, %shares
  br i1 %invited, label %serve, label %leave
serve:
  call void @work(i32 %me)
  br label %leave
leave:
  %before = atomicrmw sub ptr @gate, i32 1 seq_cst
  %last = icmp eq i32 %before, -2147483647
  br i1 %last, label %tell, label %served
tell:
  call void @wake(ptr @gate, ptr @caller_sleeps, i32 1)
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
  store ptr %ctx, ptr getelementptr ($JOB, ptr @job, i32 0, i32 1), align 8
  store i64 %extent, ptr getelementptr ($JOB, ptr @job, i32 0, i32 2), align 8
  store i64 %chunk, ptr getelementptr ($JOB, ptr @job, i32 0, i32 3), align 8
  store i32 %n, ptr getelementptr ($JOB, ptr @job, i32 0, i32 4), align 4
  %round = load i32, ptr getelementptr ($JOB, ptr @job, i32 0, i32 5), align 4
  %round1 = add i32 %round, 1
  store i32 %round1, ptr getelementptr ($JOB, ptr @job, i32 0, i32 5), align 4
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i32 0, ptr @result monotonic, align 4
  store atomic i32 0, ptr @gate release, align 4
  %old = load atomic i32, ptr @epoch monotonic, align 4
  %seq = and i32 %old, $SEQUENCE_MASK
  %seq1 = add i32 %seq, $SEQUENCE_STEP
  %new = or i32 %seq1, %n
  store atomic i32 %new, ptr @epoch seq_cst, align 4
  call void @make_way()
  call void @wake(ptr @epoch, ptr @sleepers, i32 2147483647)
  call void @work(i32 0)
  %was = atomicrmw or ptr @gate, i32 -2147483648 acq_rel
  br label %join
join:
  %left = load atomic i32, ptr @gate acquire, align 4
  %all = icmp eq i32 %left, -2147483648
  br i1 %all, label %joined, label %wait
wait:
  call void @wait_change(ptr @gate, i32 %left, ptr @caller_sleeps)
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
  store i32 -2147483648, ptr @gate, align 4
  store i32 -1, ptr @avoided, align 4
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
        "$SHARES": str(MAX_WORKERS + 1),
        "$CPU_WORDS": str(CPU_WORDS),
        "$CPU_BITS": str(64 * CPU_WORDS),
        "$CPU_BYTES": str(8 * CPU_WORDS),
        "$MOST_MOVED": str(_MOST_MOVED),
        "$GETTID": str(_GETTID[arch]),
        "$SETAFFINITY": str(_SETAFFINITY[arch]),
        "$JOB": "{ ptr, ptr, i64, i64, i32, i32 }",
    }
    text = _POOL_IR
    for word, value in words.items():
        text = text.replace(word, value)
    return SERIAL_IR + text
