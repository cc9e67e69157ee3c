//! Each struct has the size, the alignment and the offsets that a C compiler gives it on 64-bit
//! machines.
#![cfg(target_pointer_width = "64")]

#[rustfmt::skip]
#[path = "generated/layouts_gen.rs"]
mod layouts_gen;
