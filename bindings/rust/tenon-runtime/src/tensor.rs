//! Tensors: creation from host memory and numbers, properties, reading and printing.

use std::fmt;
use std::os::raw::c_void;
use std::ptr;
use std::slice;

use tenon_sys as sys;

use crate::dtype::{DType, Element};
use crate::error::{check, invalid, Result};
use crate::panics::drop_payload;
use crate::scope::{current, is_tracing};
use crate::text::{c_text, view, OwnedText};

shared_handle! {
    /// An immutable tensor. Clones share it, and threads may share it.
    ///
    /// ```
    /// use tenon::tensor;
    ///
    /// let x = tensor![[1., 2.], [3., 4.]]?;
    /// let y = ((&x * 2)? + tensor![10., 20.])?;
    /// assert_eq!(y.shape()?, [2, 2]);
    /// assert_eq!(y.to_vec::<f32>()?, [12., 24., 16., 28.]);
    /// # tenon::Result::Ok(())
    /// ```
    ///
    /// ```
    /// fn share<T: Send + Sync>(_: T) {}
    /// share(tenon::tensor![1.]?);
    /// # tenon::Result::Ok(())
    /// ```
    Tensor, tenon_tensor, tenon_tensor_retain, tenon_tensor_release
}

macro_rules! scalars {
    ($($kind:ty: $make:ident as $c:ty;)*) => {
        $(
            /// Creates an inline scalar, which adopts the dtype of the other operand.
            impl From<$kind> for Tensor {
                #[inline]
                fn from(value: $kind) -> Self {
                    // SAFETY: returns a tensor, or NULL if host memory is exhausted.
                    let raw = unsafe { sys::$make(<$c>::from(value)) };
                    assert!(!raw.is_null(), "no memory for a number");
                    // SAFETY: the caller owns the result.
                    unsafe { Self::adopt(raw) }
                }
            }
        )*
    };
}

scalars! {
    f32: tenon_scalar_f64 as f64;
    f64: tenon_scalar_f64 as f64;
    i32: tenon_scalar_i64 as i64;
    i64: tenon_scalar_i64 as i64;
    bool: tenon_scalar_bool as bool;
}

impl Tensor {
    /// Creates a tensor and copies row-major elements into it.
    ///
    /// ```
    /// let x = tenon::Tensor::from_slice(&[1u8, 2, 3, 4], &[2, 2])?;
    /// assert_eq!(x.shape()?, [2, 2]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_slice<T: Element>(elements: &[T], shape: &[i64]) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the call copies the elements and checks their number of bytes.
        unsafe {
            check(sys::tenon_tensor_from_data(
                current()?,
                T::DTYPE.to_c(),
                shape.as_ptr(),
                shape.len(),
                elements.as_ptr().cast(),
                std::mem::size_of_val(elements),
                &mut raw,
            ))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Creates a tensor from row-major elements. Copies them only if the device cannot use the
    /// vector's memory.
    ///
    /// ```
    /// let x = tenon::Tensor::from_vec(vec![1f32; 6], &[2, 3])?;
    /// assert_eq!(x.sum()?.item::<f32>()?, 6.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[i64]) -> Result<Self> {
        let mut owner = Box::new(elements);
        let (data, size) = (owner.as_mut_ptr(), std::mem::size_of_val(owner.as_slice()));
        let deleter = sys::tenon_deleter {
            function: Some(drop_payload::<Vec<T>>),
            payload: Box::into_raw(owner).cast(),
        };
        let scope = match current() {
            Ok(scope) => scope,
            Err(error) => {
                // SAFETY: nothing was imported, so this function still owns the payload.
                unsafe { drop_payload::<Vec<T>>(deleter.payload) };
                return Err(error);
            }
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the vector is not written, and lives until the deleter runs, even on failure.
        unsafe {
            check(sys::tenon_tensor_from_host(
                scope,
                T::DTYPE.to_c(),
                shape.as_ptr(),
                shape.len(),
                ptr::null(),
                data.cast::<c_void>(),
                size,
                deleter,
                &mut raw,
            ))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Creates a tensor whose elements all have the same value.
    ///
    /// ```
    /// let x = tenon::Tensor::full(0.5f32, &[2, 3])?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.5; 6]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn full<T: Element>(value: T, shape: &[i64]) -> Result<Self> {
        Self::from_slice(&[value], &[])?.broadcast_to(shape)?.copy()
    }

    /// Creates a tensor of zeros.
    ///
    /// ```
    /// use tenon::{DType, Tensor};
    ///
    /// let x = Tensor::zeros(DType::F32, &[2])?;
    /// assert_eq!(x.to_vec::<f32>()?, [0., 0.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn zeros(dtype: DType, shape: &[i64]) -> Result<Self> {
        crate::ops::fill_with(0).shape(shape).dtype(dtype).run()
    }

    /// The element type.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![true]?.dtype(), tenon::DType::Bool);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn dtype(&self) -> DType {
        // SAFETY: the tensor is live.
        DType::from_c(unsafe { sys::tenon_tensor_dtype(self.raw()) })
    }

    /// The number of axes.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.]]?.rank(), 2);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn rank(&self) -> usize {
        // SAFETY: the tensor is live.
        unsafe { sys::tenon_tensor_rank(self.raw()) }
    }

    /// The sizes of the axes. Fails in a traced function if a size is unknown.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.]]?.shape()?, [1, 2]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn shape(&self) -> Result<&[i64]> {
        let (mut data, mut rank) = (ptr::null(), 0);
        // SAFETY: the sizes live as long as the tensor.
        unsafe {
            check(sys::tenon_tensor_read_shape(
                self.raw(),
                &mut data,
                &mut rank,
            ))?;
            Ok(sizes(data, rank))
        }
    }

    /// The size of an axis. A negative axis counts from the last. Fails if there is no such axis,
    /// and in a traced function if the size is unknown.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.]]?.size(-1)?, 2);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn size(&self, axis: i64) -> Result<i64> {
        let mut size = 0;
        // SAFETY: the tensor is live.
        unsafe { check(sys::tenon_tensor_size(self.raw(), axis, &mut size))? };
        Ok(size)
    }

    /// The strides in elements, which describe the memory layout only. Fails in a traced function
    /// if a size is unknown.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.], [3., 4.]]?.strides()?, [2, 1]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn strides(&self) -> Result<&[i64]> {
        let rank = self.shape()?.len();
        // SAFETY: the strides live as long as the tensor.
        unsafe { Ok(sizes(sys::tenon_tensor_strides(self.raw()), rank)) }
    }

    /// The number of elements. Fails in a traced function if a size is unknown.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.]]?.count()?, 2);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn count(&self) -> Result<usize> {
        self.shape()?;
        // SAFETY: the tensor is live.
        Ok(unsafe { sys::tenon_tensor_count(self.raw()) } as usize) // A count is never negative.
    }

    /// The size of a dense copy in bytes. Fails in a traced function if a size is unknown.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1., 2.]]?.bytes()?, 8);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn bytes(&self) -> Result<usize> {
        self.shape()?;
        // SAFETY: the tensor is live.
        Ok(unsafe { sys::tenon_tensor_bytes(self.raw()) })
    }

    /// The name of the device; `None` for an inline scalar.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![1.]?.device(), Some("cpu:0"));
    /// assert_eq!(tenon::Tensor::from(1.0).device(), None);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn device(&self) -> Option<&str> {
        // SAFETY: the string lives as long as the tensor.
        let name = unsafe { view(sys::tenon_tensor_device_name(self.raw())) };
        (!name.is_empty()).then_some(name)
    }

    /// The element of a tensor with exactly one element.
    ///
    /// ```
    /// let y = tenon::tensor![1., 2.]?.sum()?;
    /// assert_eq!(y.item::<f64>()?, 3.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn item<T: Item>(&self) -> Result<T> {
        T::item(self)
    }

    /// Copies all elements, row-major. `T` must be the Rust type of the dtype.
    ///
    /// ```
    /// assert_eq!(tenon::tensor![[1, 2], [3, 4]]?.to_vec::<i32>()?, [1, 2, 3, 4]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.require::<T>("to_vec")?;
        let mut elements = vec![T::ZERO; self.count()?];
        self.read_into(&mut elements)?;
        Ok(elements)
    }

    /// Copies all elements, row-major, into a slice of the same length.
    ///
    /// ```
    /// let mut row = [0f32; 2];
    /// tenon::tensor![1., 2.]?.read_into(&mut row)?;
    /// assert_eq!(row, [1., 2.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn read_into<T: Element>(&self, elements: &mut [T]) -> Result<()> {
        self.require::<T>("read_into")?;
        // SAFETY: the call writes exactly the bytes of the slice, or fails; a bool is 0 or 1.
        unsafe {
            check(sys::tenon_tensor_read(
                current()?,
                self.raw(),
                elements.as_mut_ptr().cast(),
                std::mem::size_of_val(elements),
            ))
        }
    }

    /// Borrows the elements in place. Returns `None` if the host cannot access them or if they are
    /// not row-major without gaps.
    ///
    /// ```
    /// let x = tenon::tensor![1., 2.]?;
    /// if let Some(elements) = x.as_slice::<f32>()? {
    ///     assert_eq!(elements, [1., 2.]);
    /// }
    /// # tenon::Result::Ok(())
    /// ```
    pub fn as_slice<T: Element>(&self) -> Result<Option<&[T]>> {
        self.require::<T>("as_slice")?;
        // SAFETY: the slice has the tensor's number of elements. They live as long as it, and are
        // never written.
        unsafe {
            let data = sys::tenon_tensor_data(self.raw()).cast::<T>();
            if data.is_null() {
                return Ok(None);
            }
            Ok(Some(slice::from_raw_parts(data, self.count()?)))
        }
    }

    /// Copies the tensor to another device.
    ///
    /// ```
    /// let x = tenon::tensor![1., 2.]?.to_device("cpu:0")?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn to_device(&self, name: &str) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the name is borrowed until the call returns.
        unsafe {
            check(sys::tenon_tensor_copy_to(
                current()?,
                self.raw(),
                c_text(name),
                &mut raw,
            ))?;
            Ok(Self::adopt(raw))
        }
    }

    /// Donates the tensor: the next call that takes it may write an output into its memory. After
    /// that call, every use of a clone is an error.
    ///
    /// # Safety
    /// No other thread uses a clone of this tensor during or after that call.
    ///
    /// ```
    /// let x = tenon::tensor![1., 2.]?;
    /// // SAFETY: no clone exists.
    /// let y = unsafe { x.donate()? }.exp()?;
    /// # tenon::Result::Ok(())
    /// ```
    pub unsafe fn donate(self) -> Result<Self> {
        check(sys::tenon_tensor_donate(self.raw()))?;
        Ok(self)
    }

    fn require<T: Element>(&self, who: &str) -> Result<()> {
        let dtype = self.dtype();
        if dtype == T::DTYPE {
            return Ok(());
        }
        Err(invalid(format!(
            "{who}: the elements are {dtype}, not {}; use cast",
            T::DTYPE
        )))
    }

    /// Formats the tensor. `precision` is the maximum number of digits after the decimal point.
    fn format(&self, precision: Option<usize>, long_form: bool) -> Result<OwnedText> {
        let options = sys::tenon_format_options {
            struct_size: std::mem::size_of::<sys::tenon_format_options>() as u32,
            precision: precision.map_or(8, |digits| digits.min(100) as i32),
            threshold: 1000,
            edge_items: 3,
            line_width: 75,
            long_form,
        };
        let mut text = OwnedText::empty();
        // SAFETY: the options outlive the call; the caller owns the string.
        unsafe {
            check(sys::tenon_tensor_format(
                current()?,
                self.raw(),
                &options,
                &mut text.0,
            ))?
        };
        Ok(text)
    }
}

/// # Safety
/// `data` points to `rank` sizes that are valid for `'a`.
pub(crate) unsafe fn sizes<'a>(data: *const i64, rank: usize) -> &'a [i64] {
    if data.is_null() {
        return &[];
    }
    slice::from_raw_parts(data, rank)
}

/// A type that [`Tensor::item`] can return.
///
/// ```
/// fn read<T: tenon::Item>(x: &tenon::Tensor) -> tenon::Result<T> {
///     x.item()
/// }
/// assert_eq!(read::<i64>(&tenon::tensor![7]?)?, 7);
/// # tenon::Result::Ok(())
/// ```
pub trait Item: Sized {
    /// Returns the only element of a tensor.
    #[doc(hidden)]
    fn item(tensor: &Tensor) -> Result<Self>;
}

impl Item for f64 {
    fn item(tensor: &Tensor) -> Result<Self> {
        let mut value = 0.0;
        // SAFETY: `value` outlives the call.
        unsafe {
            check(sys::tenon_tensor_item_f64(
                current()?,
                tensor.raw(),
                &mut value,
            ))?
        };
        Ok(value)
    }
}

impl Item for f32 {
    fn item(tensor: &Tensor) -> Result<Self> {
        f64::item(tensor).map(|value| value as f32)
    }
}

impl Item for i64 {
    fn item(tensor: &Tensor) -> Result<Self> {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        unsafe {
            check(sys::tenon_tensor_item_i64(
                current()?,
                tensor.raw(),
                &mut value,
            ))?
        };
        Ok(value)
    }
}

impl Item for i32 {
    fn item(tensor: &Tensor) -> Result<Self> {
        let value = i64::item(tensor)?;
        value.try_into().map_err(|_| {
            crate::Error::new(
                crate::Code::OutOfRange,
                format!("item: {value} is outside the range of i32"),
            )
        })
    }
}

impl Item for bool {
    fn item(tensor: &Tensor) -> Result<Self> {
        f64::item(tensor).map(|value| value != 0.0)
    }
}

/// Formats as NumPy does: `{:.3}` limits the digits, and `{:#}` appends dtype, shape and device.
impl fmt::Display for Tensor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.format(out.precision(), out.alternate()) {
            Ok(text) => out.write_str(text.as_str()),
            Err(error) => write!(out, "<{error}>"),
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tensor({}", self.dtype())?;
        // While tracing, reading a dynamic size would specialise the trace.
        match is_tracing().and_then(|tracing| if tracing { Ok(&[][..]) } else { self.shape() }) {
            Ok(shape) if shape.len() == self.rank() => write!(out, "{shape:?}")?,
            _ => write!(out, " of rank {}", self.rank())?,
        }
        if let Some(device) = self.device() {
            write!(out, " on {device}")?;
        }
        out.write_str(")")
    }
}
