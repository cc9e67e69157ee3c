//! Checks that each struct has the size, alignment and offsets of the C struct on 64-bit machines.
#![cfg(target_pointer_width = "64")]

#[rustfmt::skip]
#[path = "generated/layouts_gen.rs"]
mod layouts_gen;
