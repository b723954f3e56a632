"""Memory for the intermediates of kernels, kept from call to call, written as LLVM IR.

The C library gives large blocks back to the system when they are freed, and gets them anew with the
next call: page by page, each first touched by an interrupt. For a product of 512 x 512 matrices by
two threads that is a sixth of its time. So a few blocks are kept here.

`tvmlab_take` and `tvmlab_give` stand in for `aligned_alloc` and `free` in code that is loaded into
this process. A block is known by its address: what was not taken here goes to the C library. A slot
is empty, idle (its block waits), lent, or being changed by the one thread that claimed it.
"""

from __future__ import annotations

from string import Template

SLOTS = 8
LEAST, MOST = 64 << 10, 32 << 20
"""Bytes of the blocks that are kept; the C library keeps smaller ones itself."""
WASTE = 4
"""How many times larger a block may be than what is asked for."""

TAKE, GIVE = "tvmlab_take", "tvmlab_give"

_EMPTY, _IDLE, _LENT, _CLAIMED = range(4)

_IR = Template("""
%slot = type { ptr, i64, i32 }
@slots = internal global [$SLOTS x %slot] zeroinitializer, align 64

declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)

; Claim a slot in a state; the state is then $CLAIMED. Returns whether it was so.
define internal i1 @claim(ptr %slot, i32 %from) {
  %place = getelementptr %slot, ptr %slot, i64 0, i32 2
  %now = load atomic i32, ptr %place monotonic, align 4
  %likely = icmp eq i32 %now, %from
  br i1 %likely, label %try, label %no
try:
  %pair = cmpxchg ptr %place, i32 %from, i32 $CLAIMED acquire monotonic
  %done = extractvalue { i32, i1 } %pair, 1
  ret i1 %done
no:
  ret i1 false
}

define internal void @release(ptr %slot, i32 %to) {
  %place = getelementptr %slot, ptr %slot, i64 0, i32 2
  store atomic i32 %to, ptr %place release, align 4
  ret void
}

; Put a block into a slot that is claimed, and lend it; returns what was there.
define internal ptr @fill(ptr %slot, ptr %block, i64 %size) {
  %old = load atomic ptr, ptr %slot monotonic, align 8
  %room = getelementptr %slot, ptr %slot, i64 0, i32 1
  store atomic ptr %block, ptr %slot monotonic, align 8
  store atomic i64 %size, ptr %room monotonic, align 8
  call void @release(ptr %slot, i32 $LENT)
  ret ptr %old
}

define ptr @$TAKE(i64 %align, i64 %size) {
entry:
  %large = icmp uge i64 %size, $LEAST
  %fits = icmp ule i64 %size, $MOST
  %kept = and i1 %large, %fits
  %near = icmp ule i64 %align, 64
  %ours = and i1 %kept, %near
  br i1 %ours, label %look, label %plain
plain:
  %other = call ptr @aligned_alloc(i64 %align, i64 %size)
  ret ptr %other
look:
  %i = phi i64 [ 0, %entry ], [ %i.next, %further ]
  %slot = getelementptr [$SLOTS x %slot], ptr @slots, i64 0, i64 %i
  %mine = call i1 @claim(ptr %slot, i32 $IDLE)
  br i1 %mine, label %measure, label %further
measure:
  %room.at = getelementptr %slot, ptr %slot, i64 0, i32 1
  %room = load atomic i64, ptr %room.at monotonic, align 8
  %enough = icmp uge i64 %room, %size
  %most = mul i64 %size, $WASTE
  %modest = icmp ule i64 %room, %most
  %good = and i1 %enough, %modest
  br i1 %good, label %found, label %back
found:
  %block = load atomic ptr, ptr %slot monotonic, align 8
  call void @release(ptr %slot, i32 $LENT)
  ret ptr %block
back:
  call void @release(ptr %slot, i32 $IDLE)
  br label %further
further:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, $SLOTS
  br i1 %more, label %look, label %make
make:
  %new = call ptr @aligned_alloc(i64 64, i64 %size)
  %none = icmp eq ptr %new, null
  br i1 %none, label %failed, label %empty
failed:
  ret ptr null
empty:
  %e = phi i64 [ 0, %make ], [ %e.next, %full ]
  %empty.slot = getelementptr [$SLOTS x %slot], ptr @slots, i64 0, i64 %e
  %free = call i1 @claim(ptr %empty.slot, i32 $EMPTY)
  br i1 %free, label %keep, label %full
keep:
  %nothing = call ptr @fill(ptr %empty.slot, ptr %new, i64 %size)
  ret ptr %new
full:
  %e.next = add i64 %e, 1
  %e.more = icmp ult i64 %e.next, $SLOTS
  br i1 %e.more, label %empty, label %replace
replace:
  %r = phi i64 [ 0, %full ], [ %r.next, %taken ]
  %idle.slot = getelementptr [$SLOTS x %slot], ptr @slots, i64 0, i64 %r
  %idle = call i1 @claim(ptr %idle.slot, i32 $IDLE)
  br i1 %idle, label %exchange, label %taken
exchange:
  %old = call ptr @fill(ptr %idle.slot, ptr %new, i64 %size)
  call void @free(ptr %old)
  ret ptr %new
taken:
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, $SLOTS
  br i1 %r.more, label %replace, label %unkept
unkept:
  ret ptr %new
}

define void @$GIVE(ptr %block) {
entry:
  %null = icmp eq ptr %block, null
  br i1 %null, label %done, label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i.next, %further ]
  %slot = getelementptr [$SLOTS x %slot], ptr @slots, i64 0, i64 %i
  %here = load atomic ptr, ptr %slot monotonic, align 8
  %same = icmp eq ptr %here, %block
  br i1 %same, label %back, label %further
back:
  call void @release(ptr %slot, i32 $IDLE)
  ret void
further:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, $SLOTS
  br i1 %more, label %look, label %foreign
foreign:
  call void @free(ptr %block)
  ret void
done:
  ret void
}
""")


def scratch_ir() -> str:
    """The two functions, for any machine."""
    return _IR.substitute(
        SLOTS=SLOTS, LEAST=LEAST, MOST=MOST, WASTE=WASTE, TAKE=TAKE, GIVE=GIVE,
        EMPTY=_EMPTY, IDLE=_IDLE, LENT=_LENT, CLAIMED=_CLAIMED,
    )  # fmt: skip
