//! Inputs and outputs of closures and calls: a tensor, a tuple, an array or a vector.

use std::ptr;

use tenon_sys as sys;

use crate::error::{check, invalid, Result};
use crate::operand::{Lent, Operand};
use crate::tensor::Tensor;
use crate::variable::Variable;

type Raw = *mut sys::tenon_tensor;

/// Maximum number of tensors in a `Vec` of outputs.
pub(crate) const MAX_OUTPUTS: usize = 64;

/// Inputs and outputs of closures, and results of calls: a tensor, a tuple, an array or a vector of
/// tensors.
///
/// ```
/// use tenon::{Function, Tensor};
///
/// let f = Function::new(|(x, y): (Tensor, Tensor)| Ok(((&x + &y)?, (x * y)?)));
/// let (sum, product) = f.call((2., 3.))?;
/// # assert_eq!((sum.item::<f32>()?, product.item::<f32>()?), (5., 6.));
/// # tenon::Result::Ok(())
/// ```
pub trait Tensors: Sized {
    /// The number of tensors; `None` if it varies.
    #[doc(hidden)]
    const COUNT: Option<usize>;

    /// Creates a value from borrowed handles. Adds a reference to each tensor.
    ///
    /// # Safety
    /// The handles are live tensors.
    #[doc(hidden)]
    unsafe fn share(raw: &[Raw]) -> Result<Self>;

    /// Runs a C call and takes ownership of its outputs.
    #[doc(hidden)]
    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self>;

    /// Passes each tensor to `give`, in order.
    #[doc(hidden)]
    fn give(self, give: &mut dyn FnMut(Tensor));

    /// Passes borrowed handles of all tensors to `use_raw`.
    #[doc(hidden)]
    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R;
}

/// Writes the outputs of a closure to a C array and returns their number.
///
/// # Safety
/// `out` has space for `room` handles.
pub(crate) unsafe fn write_outputs<T: Tensors>(
    given: T,
    out: *mut Raw,
    room: usize,
) -> Result<usize> {
    let mut all: Vec<Tensor> = Vec::new();
    if let Some(count) = T::COUNT {
        all.reserve(count);
    }
    given.give(&mut |tensor| all.push(tensor));
    if all.len() > room {
        return Err(invalid(format!(
            "a closure returned {} tensors, but at most {room} are allowed",
            all.len()
        )));
    }
    let count = all.len();
    for (index, tensor) in all.into_iter().enumerate() {
        *out.add(index) = Lent::own(tensor).leak();
    }
    Ok(count)
}

/// The handles of the inputs of a callback, as a slice.
///
/// # Safety
/// `raw` points to `count` handles that outlive `'a`.
pub(crate) unsafe fn borrow_raw<'a>(raw: *const Raw, count: usize) -> &'a [Raw] {
    if count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(raw, count)
}

fn expect(count: usize, given: usize) -> Result<()> {
    if count == given {
        return Ok(());
    }
    Err(invalid(format!(
        "a closure takes {count} tensors, but was called with {given}"
    )))
}

impl Tensors for Tensor {
    const COUNT: Option<usize> = Some(1);

    #[inline]
    unsafe fn share(raw: &[Raw]) -> Result<Self> {
        expect(1, raw.len())?;
        Ok(Tensor::share(raw[0]))
    }

    #[inline]
    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the caller owns the output of a successful call.
        unsafe {
            check(call(&mut raw, 1, ptr::null_mut()))?;
            Ok(Tensor::adopt(raw))
        }
    }

    fn give(self, give: &mut dyn FnMut(Tensor)) {
        give(self);
    }

    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
        use_raw(&[self.raw()])
    }
}

impl Tensors for Vec<Tensor> {
    const COUNT: Option<usize> = None;

    unsafe fn share(raw: &[Raw]) -> Result<Self> {
        Ok(raw.iter().map(|&raw| Tensor::share(raw)).collect())
    }

    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self> {
        let mut raw = [ptr::null_mut(); MAX_OUTPUTS];
        let mut count = 0;
        // SAFETY: the caller owns the `count` outputs of a successful call.
        unsafe {
            check(call(raw.as_mut_ptr(), MAX_OUTPUTS, &mut count))?;
            Ok(raw[..count].iter().map(|&raw| Tensor::adopt(raw)).collect())
        }
    }

    fn give(self, give: &mut dyn FnMut(Tensor)) {
        self.into_iter().for_each(give);
    }

    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
        use_raw(&self.iter().map(Tensor::raw).collect::<Vec<_>>())
    }
}

/// Runs a C call with exactly `N` outputs and takes ownership of them.
#[inline]
fn take_array<const N: usize>(
    call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
) -> Result<[Tensor; N]> {
    let mut raw = [ptr::null_mut(); N];
    // SAFETY: the caller owns all `N` outputs of a successful call.
    unsafe {
        check(call(raw.as_mut_ptr(), N, ptr::null_mut()))?;
        Ok(raw.map(|raw| Tensor::adopt(raw)))
    }
}

impl<const N: usize> Tensors for [Tensor; N] {
    const COUNT: Option<usize> = Some(N);

    unsafe fn share(raw: &[Raw]) -> Result<Self> {
        expect(N, raw.len())?;
        let mut all = [ptr::null_mut(); N];
        all.copy_from_slice(raw);
        Ok(all.map(|raw| Tensor::share(raw)))
    }

    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self> {
        take_array(call)
    }

    fn give(self, give: &mut dyn FnMut(Tensor)) {
        self.into_iter().for_each(give);
    }

    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
        let mut raw = [ptr::null_mut(); N];
        for (raw, tensor) in raw.iter_mut().zip(self) {
            *raw = tensor.raw();
        }
        use_raw(&raw)
    }
}

/// Inputs of calls: one operand, a tuple or array of operands, or a slice of tensors.
///
/// ```
/// use tenon::{tensor, Function, Tensor};
///
/// let total = Function::new(|xs: Vec<Tensor>| tenon::ops::stack(&xs, 0)?.sum());
/// let x = tensor![1., 2.]?;
/// assert_eq!(total.call((&x, &x))?.item::<f32>()?, 6.);
/// assert_eq!(total.call(&[x.clone(), x])?.item::<f32>()?, 6.);
/// # tenon::Result::Ok(())
/// ```
pub trait Inputs {
    /// Passes borrowed handles of all inputs to `use_raw`, for the duration of a call.
    #[doc(hidden)]
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R>;
}

macro_rules! single_inputs {
    ($($kind:ty),*) => {
        $(impl Inputs for $kind {
            #[inline]
            fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
                let lent = self.lend()?;
                Ok(use_raw(&[lent.raw()]))
            }
        })*
    };
}
single_inputs!(
    &Tensor,
    Tensor,
    Result<Tensor>,
    &Variable,
    f32,
    f64,
    i32,
    i64,
    bool
);

impl<'a, T: Operand<'a>, const N: usize> Inputs for [T; N] {
    #[inline]
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        let lent = crate::operand::lend_all(self)?;
        let mut raw = [ptr::null_mut(); N];
        for (raw, lent) in raw.iter_mut().zip(&lent) {
            *raw = lent.raw();
        }
        Ok(use_raw(&raw))
    }
}

impl Inputs for &[Tensor] {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        Ok(use_raw(&self.iter().map(Tensor::raw).collect::<Vec<_>>()))
    }
}

impl<const N: usize> Inputs for &[Tensor; N] {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        self[..].lend_inputs(use_raw)
    }
}

impl Inputs for &Vec<Tensor> {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        self[..].lend_inputs(use_raw)
    }
}

impl Inputs for Vec<Tensor> {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        self[..].lend_inputs(use_raw)
    }
}

impl Inputs for () {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        Ok(use_raw(&[]))
    }
}

impl Tensors for () {
    const COUNT: Option<usize> = Some(0);

    unsafe fn share(raw: &[Raw]) -> Result<Self> {
        expect(0, raw.len())
    }

    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the capacity for outputs is 0, so the call writes no handle.
        unsafe { check(call(&mut raw, 0, ptr::null_mut())) }
    }

    fn give(self, _: &mut dyn FnMut(Tensor)) {}

    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
        use_raw(&[])
    }
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $kind:ident),*;)*) => {
        $(
            impl Tensors for ($(tuples!(@tensor $name),)*) {
                const COUNT: Option<usize> = Some($count);

                unsafe fn share(raw: &[Raw]) -> Result<Self> {
                    expect($count, raw.len())?;
                    let mut raw = raw.iter();
                    $(let $name = Tensor::share(*raw.next().expect("the number of handles was checked"));)*
                    Ok(($($name,)*))
                }

                #[inline]
                fn take(
                    call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
                ) -> Result<Self> {
                    let [$($name),*] = take_array::<$count>(call)?;
                    Ok(($($name,)*))
                }

                fn give(self, give: &mut dyn FnMut(Tensor)) {
                    let ($($name,)*) = self;
                    $(give($name);)*
                }

                fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
                    let ($($name,)*) = self;
                    use_raw(&[$($name.raw()),*])
                }
            }

            impl<'a, $($kind: Operand<'a>),*> Inputs for ($($kind,)*) {
                #[inline]
                fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
                    let ($($name,)*) = self;
                    $(let $name = $name.lend()?;)*
                    Ok(use_raw(&[$($name.raw()),*]))
                }
            }
        )*
    };
    (@tensor $name:ident) => { Tensor };
}

tuples! {
    1: a A;
    2: a A, b B;
    3: a A, b B, c C;
    4: a A, b B, c C, d D;
    5: a A, b B, c C, d D, e E;
    6: a A, b B, c C, d D, e E, f F;
    7: a A, b B, c C, d D, e E, f F, g G;
    8: a A, b B, c C, d D, e E, f F, g G, h H;
}
