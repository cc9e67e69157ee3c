//! Lists of tensors of one type, as values that loops carry.

use std::ptr;

use tenon_sys as sys;

use crate::dtype::DType;
use crate::error::{invalid, Result};
use crate::operand::{Lent, Operand};
use crate::scope::current;
use crate::tensor::Tensor;
use crate::tensors::{Inputs, Tensors};

type Raw = *mut sys::tenon_tensor;

/// A list of tensors of one type. Lists are immutable: [`List::set`] returns a new list, which
/// shares the other entries. Entries that were never set are zeros.
///
/// ```
/// use tenon::{tensor, DType, List};
///
/// let list = List::new(DType::F32, &[2], 0)?.push(tensor![1., 2.])?.push(tensor![3., 4.])?;
/// assert_eq!(list.stack()?.to_vec::<f32>()?, [1., 2., 3., 4.]);
/// # tenon::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct List(Tensor);

impl List {
    /// Creates an empty list with preallocated memory for `capacity` entries.
    ///
    /// ```
    /// # use tenon::{DType, List};
    /// let list = List::new(DType::F32, &[2], 8)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn new(dtype: DType, shape: &[i64], capacity: i64) -> Result<Self> {
        let scope = current()?;
        // SAFETY: the shape outlives the call.
        Self::make(|out| unsafe {
            sys::tenon_list_create(
                scope,
                dtype.to_c(),
                shape.as_ptr(),
                shape.len(),
                capacity,
                out,
            )
        })
    }

    /// Creates an empty list for tensors of the same type as `entry`.
    ///
    /// ```
    /// let list = tenon::List::like(tenon::tensor![1., 2.], 0)?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn like<'a>(entry: impl Operand<'a>, capacity: i64) -> Result<Self> {
        let (scope, entry) = (current()?, entry.lend()?);
        // SAFETY: the entry outlives the call.
        Self::make(|out| unsafe { sys::tenon_list_create_like(scope, entry.raw(), capacity, out) })
    }

    /// Creates a list of the slices of a tensor along its first axis, without a copy.
    ///
    /// ```
    /// let list = tenon::List::unstack(&tenon::tensor![[1., 2.], [3., 4.]]?)?;
    /// assert_eq!(list.len()?.item::<i64>()?, 2);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn unstack(tensor: &Tensor) -> Result<Self> {
        let scope = current()?;
        // SAFETY: the tensor outlives the call.
        Self::make(|out| unsafe { sys::tenon_list_unstack(scope, tensor.raw(), out) })
    }

    /// Returns a list with the entry at `index` replaced.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.set(1, tensor![5.])?;
    /// assert_eq!(list.stack()?.to_vec::<f32>()?, [0., 5.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn set<'a>(&self, index: impl Operand<'a>, entry: impl Operand<'a>) -> Result<Self> {
        let (scope, index, entry) = (current()?, index.lend()?, entry.lend()?);
        // SAFETY: all arguments outlive the call.
        Self::make(|out| unsafe {
            sys::tenon_list_set(scope, self.0.raw(), index.raw(), entry.raw(), out)
        })
    }

    /// Returns a list with `entry` appended.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.push(tensor![5.])?;
    /// # tenon::Result::Ok(())
    /// ```
    pub fn push<'a>(&self, entry: impl Operand<'a>) -> Result<Self> {
        let (scope, entry) = (current()?, entry.lend()?);
        // SAFETY: all arguments outlive the call.
        Self::make(|out| unsafe { sys::tenon_list_push(scope, self.0.raw(), entry.raw(), out) })
    }

    /// Returns the entry at `index`; zeros if it was never set.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.push(tensor![5.])?;
    /// assert_eq!(list.get(0)?.item::<f32>()?, 5.);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn get<'a>(&self, index: impl Operand<'a>) -> Result<Tensor> {
        let (scope, index) = (current()?, index.lend()?);
        // SAFETY: all arguments outlive the call.
        tensor_of(|out| unsafe { sys::tenon_list_get(scope, self.0.raw(), index.raw(), out) })
    }

    /// Returns the length, a rank-0 int64: the highest index that was set, plus 1.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// assert_eq!(List::like(tensor![0.], 0)?.len()?.item::<i64>()?, 0);
    /// # tenon::Result::Ok(())
    /// ```
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Result<Tensor> {
        let scope = current()?;
        // SAFETY: the list outlives the call.
        tensor_of(|out| unsafe { sys::tenon_list_length(scope, self.0.raw(), out) })
    }

    /// Stacks all entries along a new first axis.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.push(tensor![5.])?;
    /// assert_eq!(list.stack()?.shape()?, [1, 1]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn stack(&self) -> Result<Tensor> {
        let scope = current()?;
        // SAFETY: the list outlives the call; the length NULL selects all entries.
        tensor_of(|out| unsafe { sys::tenon_list_stack(scope, self.0.raw(), ptr::null(), out) })
    }

    /// Stacks the first `length` entries along a new first axis.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.push(tensor![5.])?;
    /// assert_eq!(list.stack_first(2)?.to_vec::<f32>()?, [5., 0.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn stack_first<'a>(&self, length: impl Operand<'a>) -> Result<Tensor> {
        let (scope, length) = (current()?, length.lend()?);
        // SAFETY: all arguments outlive the call.
        tensor_of(|out| unsafe { sys::tenon_list_stack(scope, self.0.raw(), length.raw(), out) })
    }

    /// Concatenates all entries along their first axis.
    ///
    /// ```
    /// # use tenon::{tensor, List};
    /// let list = List::like(tensor![0.], 0)?.push(tensor![5.])?.push(tensor![6.])?;
    /// assert_eq!(list.concat()?.to_vec::<f32>()?, [5., 6.]);
    /// # tenon::Result::Ok(())
    /// ```
    pub fn concat(&self) -> Result<Tensor> {
        let scope = current()?;
        // SAFETY: the list outlives the call; the length NULL selects all entries.
        tensor_of(|out| unsafe { sys::tenon_list_concat(scope, self.0.raw(), ptr::null(), out) })
    }

    fn make(call: impl FnOnce(*mut Raw) -> *mut sys::tenon_error) -> Result<Self> {
        tensor_of(call).map(Self)
    }
}

fn tensor_of(call: impl FnOnce(*mut Raw) -> *mut sys::tenon_error) -> Result<Tensor> {
    Tensor::take(|out, _, _| call(out))
}

impl TryFrom<Tensor> for List {
    type Error = crate::Error;

    /// Converts a tensor that a closure received. Returns an error if it is not a list.
    fn try_from(tensor: Tensor) -> Result<Self> {
        // SAFETY: the tensor is live.
        if unsafe { sys::tenon_tensor_is_list(tensor.raw()) } {
            return Ok(Self(tensor));
        }
        Err(invalid("a tensor is not a list"))
    }
}

impl<'a> Operand<'a> for &'a List {
    fn lend(self) -> Result<Lent<'a>> {
        Ok(Lent::borrow(&self.0))
    }
}

impl<'a> Operand<'a> for List {
    fn lend(self) -> Result<Lent<'a>> {
        Ok(Lent::own(self.0))
    }
}

impl Inputs for &List {
    fn lend_inputs<R>(self, use_raw: impl FnOnce(&[Raw]) -> R) -> Result<R> {
        self.0.with_raw(|raw| Ok(use_raw(raw)))
    }
}

impl Tensors for List {
    const COUNT: Option<usize> = Some(1);

    unsafe fn share(raw: &[Raw]) -> Result<Self> {
        <Tensor as Tensors>::share(raw)?.try_into()
    }

    fn take(
        call: impl FnOnce(*mut Raw, usize, *mut usize) -> *mut sys::tenon_error,
    ) -> Result<Self> {
        Tensor::take(call)?.try_into()
    }

    fn give(self, give: &mut dyn FnMut(Tensor)) {
        give(self.0);
    }

    fn with_raw<R>(&self, use_raw: impl FnOnce(&[Raw]) -> R) -> R {
        self.0.with_raw(use_raw)
    }
}

/// Converts to the tensor that represents the list, for tuples that carry both lists and tensors.
impl From<List> for Tensor {
    fn from(list: List) -> Self {
        list.0
    }
}
