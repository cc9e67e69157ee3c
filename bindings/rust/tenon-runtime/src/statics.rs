//! Static arguments of functions: values other than tensors, which are part of the cache key.

use std::collections::BTreeMap;

use tenon_sys as sys;

use crate::text::{c_text, view};

/// The value of a static argument. Each value has its own trace; `1`, `1.0` and `true` are three
/// distinct values.
///
/// ```
/// use tenon::Static;
///
/// assert_eq!(Static::from(true), Static::Bool(true));
/// assert_ne!(Static::from(1), Static::from(1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Static {
    /// No value.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating point number, compared by its bits.
    Float(f64),
    /// A string.
    String(String),
    /// A value of the enumeration with this name.
    Enum(String, i64),
    /// An ordered list of values.
    List(Vec<Static>),
    /// Values by name.
    Map(Statics),
}

/// Static arguments by name.
///
/// ```
/// use tenon::{Static, Statics};
///
/// let statics = Statics::from([("training".to_owned(), Static::Bool(true))]);
/// ```
pub type Statics = BTreeMap<String, Static>;

macro_rules! from {
    ($($kind:ty: $value:ident => $static:expr;)*) => {
        $(impl From<$kind> for Static {
            fn from($value: $kind) -> Self {
                $static
            }
        })*
    };
}

from! {
    bool: value => Self::Bool(value);
    i32: value => Self::Int(value.into());
    i64: value => Self::Int(value);
    f64: value => Self::Float(value);
    &str: value => Self::String(value.into());
    String: value => Self::String(value);
    Vec<Static>: value => Self::List(value);
    Statics: value => Self::Map(value);
}

/// Static arguments as C structs, and the arrays of items that they point to.
pub(crate) struct CStatics {
    all: Vec<sys::tenon_static>,
    _kept: Vec<Vec<sys::tenon_static>>,
}

impl CStatics {
    pub(crate) fn new(statics: &Statics) -> Self {
        let mut kept = Vec::new();
        let all = statics
            .iter()
            .map(|(name, value)| c_static(name, value, &mut kept))
            .collect();
        Self { all, _kept: kept }
    }

    pub(crate) fn as_ptr(&self) -> *const sys::tenon_static {
        self.all.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

fn c_static(
    name: &str,
    value: &Static,
    kept: &mut Vec<Vec<sys::tenon_static>>,
) -> sys::tenon_static {
    let mut c = sys::tenon_static {
        kind: sys::TENON_STATIC_NONE,
        n_items: 0,
        name: c_text(name),
        int_value: 0,
        float_value: 0.0,
        string_value: c_text(""),
        handle: std::ptr::null(),
        items: std::ptr::null(),
    };
    let mut set_items = |c: &mut sys::tenon_static, items: Vec<sys::tenon_static>| {
        c.n_items = items.len() as u32;
        c.items = items.as_ptr();
        // `push` moves the vector `items`, but not its buffer, so `c.items` stays valid.
        kept.push(items);
    };
    match value {
        Static::None => {}
        Static::Bool(value) => {
            c.kind = sys::TENON_STATIC_BOOL;
            c.int_value = i64::from(*value);
        }
        Static::Int(value) => {
            c.kind = sys::TENON_STATIC_INT;
            c.int_value = *value;
        }
        Static::Float(value) => {
            c.kind = sys::TENON_STATIC_FLOAT;
            c.float_value = *value;
        }
        Static::String(value) => {
            c.kind = sys::TENON_STATIC_STRING;
            c.string_value = c_text(value);
        }
        Static::Enum(of, value) => {
            c.kind = sys::TENON_STATIC_ENUM;
            c.string_value = c_text(of);
            c.int_value = *value;
        }
        Static::List(items) => {
            c.kind = sys::TENON_STATIC_LIST;
            let mut inner = Vec::new();
            let items = items
                .iter()
                .map(|item| c_static("", item, &mut inner))
                .collect();
            set_items(&mut c, items);
            inner.into_iter().for_each(|items| kept.push(items));
        }
        Static::Map(items) => {
            c.kind = sys::TENON_STATIC_MAP;
            let mut inner = Vec::new();
            let items = items
                .iter()
                .map(|(name, item)| c_static(name, item, &mut inner))
                .collect();
            set_items(&mut c, items);
            inner.into_iter().for_each(|items| kept.push(items));
        }
    }
    c
}

/// # Safety
/// `all` points to `count` live static arguments.
pub(crate) unsafe fn statics_from_c(all: *const sys::tenon_static, count: usize) -> Statics {
    (0..count)
        .map(|index| {
            let c = &*all.add(index);
            (view(c.name).to_owned(), static_from_c(c))
        })
        .collect()
}

unsafe fn static_from_c(c: &sys::tenon_static) -> Static {
    match c.kind {
        sys::TENON_STATIC_BOOL => Static::Bool(c.int_value != 0),
        sys::TENON_STATIC_INT => Static::Int(c.int_value),
        sys::TENON_STATIC_FLOAT => Static::Float(c.float_value),
        sys::TENON_STATIC_STRING => Static::String(view(c.string_value).to_owned()),
        sys::TENON_STATIC_ENUM => Static::Enum(view(c.string_value).to_owned(), c.int_value),
        sys::TENON_STATIC_LIST => Static::List(
            (0..c.n_items as usize)
                .map(|index| static_from_c(&*c.items.add(index)))
                .collect(),
        ),
        sys::TENON_STATIC_MAP => Static::Map(statics_from_c(c.items, c.n_items as usize)),
        _ => Static::None,
    }
}
