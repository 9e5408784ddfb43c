//! Stand-ins for NDSL's and GT4Py's objects: factories of stencils and fields, the domain of a rank, halo updaters.

use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::modules::FunctionId;
use isobar_ground::diag::Span;
use isobar_ground::space::Axis;
use isobar_ground::types::DType;

use super::calls::BuildArguments;
use super::values::{BuildHelper, Built, GridIndices, dtype_of, plus};
use super::{Building, ObjectBuilder};
use crate::document::nodes::{FieldEntry, RoleEntry, SizeEntry};

/// Functions and classes of the frameworks that are stood in for by their names, also where their texts are given.
pub(super) const KNOWN: [&str; 15] = [
    "cast_to_index3d",
    "stencil",
    "lazy_stencil",
    "StencilFactory",
    "GridIndexing",
    "get_stencils_with_varied_bounds",
    "WrappedHaloUpdater",
    "NullTimer",
    "Timer",
    "zeros",
    "ones",
    "empty",
    "full",
    "Quantity",
    "NDSLRuntime",
];

/// An argument by its position or its name.
fn argument<'a, 'p>(given: &'a BuildArguments<'p>, position: usize, name: &str) -> Option<&'a Built<'p>> {
    given.0.get(position).or_else(|| given.1.iter().find(|it| it.0 == name).map(|it| &it.1))
}

impl<'p> ObjectBuilder<'p> {
    pub(super) fn attribute_of_helper(&self, helper: &BuildHelper, name: &str) -> Built<'p> {
        let bound = || Built::Bound { of: Box::new(Built::Helper(helper.clone())), method: name.to_owned() };
        match helper {
            BuildHelper::StencilFactory(grid) => match name {
                "grid_indexing" => Built::Helper(BuildHelper::Grid(*grid)),
                "config" | "backend" => Built::Helper(BuildHelper::Setting(name.to_owned())),
                "comm" => Built::Helper(BuildHelper::Communicator),
                _ => bound(),
            },
            BuildHelper::Grid(grid) => grid.attribute(name).unwrap_or_else(bound),
            BuildHelper::QuantityFactory if name == "sizer" => {
                Built::Helper(BuildHelper::Setting(name.to_owned()))
            }
            BuildHelper::Setting(path) => Built::Helper(BuildHelper::Setting(format!("{path}.{name}"))),
            _ => bound(),
        }
    }

    pub(super) fn method_of_helper(
        &mut self,
        helper: &BuildHelper,
        method: &str,
        given: &BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        match (helper, method) {
            (BuildHelper::StencilFactory(_), "from_origin_domain") => {
                let place = |position, name: &str| argument(given, position, name);
                let (Some(func), Some(origin), Some(domain)) =
                    (place(0, "func"), place(1, "origin"), place(2, "domain"))
                else {
                    return Err(Self::refused(
                        "the stencil",
                        "it takes a function, an origin and a domain",
                        at,
                    ));
                };
                let domain = self.triple(domain, at)?;
                let externals = place(3, "externals").cloned();
                self.stencil(func.clone(), (origin.clone(), domain), externals, false, at)
            }
            (BuildHelper::StencilFactory(grid), "from_dims_halo") => {
                let (Some(func), Some(dims)) =
                    (argument(given, 0, "func"), argument(given, 1, "compute_dims"))
                else {
                    return Err(Self::refused("the stencil", "it takes a function and dimensions", at));
                };
                let halos = argument(given, 2, "compute_halos").cloned();
                let (origin, domain) = self.origin_domain(*grid, dims, halos.as_ref(), at)?;
                let externals = argument(given, 3, "externals").cloned();
                self.stencil(func.clone(), (Built::triple(origin), domain), externals, true, at)
            }
            (BuildHelper::StencilFactory(grid), "restrict_vertical") => {
                let grid = self.restricted(*grid, given, at)?;
                Ok(Built::Helper(BuildHelper::StencilFactory(grid)))
            }
            (BuildHelper::Grid(grid), "restrict_vertical") => {
                Ok(Built::Helper(BuildHelper::Grid(self.restricted(*grid, given, at)?)))
            }
            (
                BuildHelper::Grid(grid),
                "origin_compute" | "origin_full" | "domain_compute" | "domain_full",
            ) => {
                let add = argument(given, 0, "add").map_or(Ok([0; 3]), |it| self.triple(it, at))?;
                Ok(Built::triple(plus(
                    match method {
                        "origin_compute" => grid.origin,
                        "origin_full" => grid.origin_full(),
                        "domain_compute" => grid.domain,
                        _ => grid.domain_full(),
                    },
                    add,
                )))
            }
            (BuildHelper::Grid(grid), "get_origin_domain") => {
                let Some(dims) = argument(given, 0, "dims") else {
                    return Err(Self::refused("the call", "it takes dimensions", at));
                };
                let halos = argument(given, 1, "halos").cloned();
                let (origin, domain) = self.along(*grid, dims, halos.as_ref(), at)?;
                let told = [origin, domain].map(|it| Built::Tuple(it.into_iter().map(Built::int).collect()));
                Ok(Built::Tuple(told.to_vec()))
            }
            (BuildHelper::Grid(grid), "get_2d_compute_origin_domain") => {
                let level = argument(given, 0, "klevel").map_or(Some(0), Built::as_int).unwrap_or_default();
                let origin = [grid.origin[0], grid.origin[1], level];
                let domain = [grid.domain[0], grid.domain[1], 1];
                Ok(Built::Tuple(vec![Built::triple(origin), Built::triple(domain)]))
            }
            (BuildHelper::Grid(_), "axis_offsets") => {
                let (Some(origin), Some(domain)) =
                    (argument(given, 0, "origin"), argument(given, 1, "domain"))
                else {
                    return Err(Self::refused("the call", "it takes an origin and a domain", at));
                };
                let (origin, domain) = (self.triple(origin, at)?, self.triple(domain, at)?);
                let entries = self.axis_offsets(origin, domain);
                Ok(self.table(entries))
            }
            (BuildHelper::QuantityFactory, "zeros" | "empty" | "ones" | "full") => {
                self.quantity(method, given, wanted, at)
            }
            (BuildHelper::QuantityFactory, "get_quantity_halo_spec") => {
                let width = match argument(given, 1, "n_halo") {
                    Some(it) if !it.is_none() => {
                        let width = it.as_int().and_then(|it| u32::try_from(it).ok());
                        width.ok_or_else(|| Self::unknown("the width", it, at))?
                    }
                    _ => self.request.halo,
                };
                Ok(Built::Helper(BuildHelper::HaloSpec(width)))
            }
            (
                BuildHelper::QuantityFactory,
                "set_extra_dim_lengths" | "add_data_dimensions" | "update_data_dimensions",
            ) => {
                let named = given.1.iter().map(|(name, it)| (name.clone(), it.clone())).collect::<Vec<_>>();
                let listed = match given.0.first() {
                    Some(Built::Table(it)) => self.tables[*it].clone(),
                    _ => Vec::new(),
                };
                let listed = listed.into_iter().filter_map(|(key, it)| Some((key.as_text()?.to_owned(), it)));
                for (name, size) in named.into_iter().chain(listed).collect::<Vec<_>>() {
                    let number = size.as_int().and_then(|it| u32::try_from(it).ok());
                    let number = number.ok_or_else(|| Self::unknown("the size", &size, at))?;
                    self.data_dims.insert(name, number);
                }
                Ok(Built::NONE)
            }
            (BuildHelper::Communicator, "get_scalar_halo_updater" | "get_vector_halo_updater") => {
                let specs = argument(given, 0, "specifications");
                let specs = specs.or_else(|| argument(given, 0, "specifications_x")).cloned();
                let specs = match specs {
                    Some(it) => self.elements(&it, at)?,
                    None => Vec::new(),
                };
                let widths = specs.iter().filter_map(|it| match it {
                    Built::Helper(BuildHelper::HaloSpec(width)) => Some(*width),
                    _ => None,
                });
                let Some(width) = widths.max() else {
                    return Err(Self::refused(
                        "the halo updater",
                        "the width of its fields is not known",
                        at,
                    ));
                };
                let kind = if method == "get_vector_halo_updater" { "vector" } else { "scalar" };
                Ok(Built::Helper(BuildHelper::HaloUpdater { kind, width }))
            }
            (BuildHelper::Timer | BuildHelper::Setting(_), _) => {
                Ok(Built::Unknown(format!("a call of `{method}`")))
            }
            _ => {
                self.spared(given, &format!("`{method}`"), at)?;
                Ok(Built::Unknown(format!("a call of `{method}`")))
            }
        }
    }

    /// A function or class of a framework; `None` where it is none.
    pub(super) fn framework(
        &mut self,
        name: &str,
        given: &BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Option<Built<'p>>> {
        Ok(Some(match name {
            "stencil" | "lazy_stencil" => {
                let definition = argument(given, 1, "definition").cloned();
                let definition = definition.or_else(|| {
                    given.0.iter().find(|it| matches!(it, Built::Constant(Constant::Function(_)))).cloned()
                });
                let Some(definition) = definition else {
                    return Err(Self::refused("the stencil", "its `definition` is not given", at));
                };
                let externals = given.1.iter().find(|it| it.0 == "externals").map(|it| it.1.clone());
                let grid = self.grid();
                self.stencil(definition, (Built::triple(grid.origin), grid.domain), externals, false, at)?
            }
            "StencilFactory" => match argument(given, 1, "grid_indexing") {
                Some(Built::Helper(BuildHelper::Grid(grid))) => {
                    Built::Helper(BuildHelper::StencilFactory(*grid))
                }
                _ => Built::Helper(BuildHelper::StencilFactory(self.grid())),
            },
            "get_stencils_with_varied_bounds" => {
                let all = ["func", "origins", "domains", "stencil_factory"];
                let all: Vec<_> =
                    (0..).zip(all).map(|(at, name)| argument(given, at, name).cloned()).collect();
                let [Some(func), Some(origins), Some(domains), Some(factory)] = all.as_slice() else {
                    return Err(Self::refused("the stencils", "an argument is missing", at));
                };
                let Built::Helper(BuildHelper::StencilFactory(_)) = factory else {
                    return Err(Self::unknown("the stencils", factory, at));
                };
                let externals = argument(given, 4, "externals").cloned();
                let (origins, domains) = (self.elements(origins, at)?, self.elements(domains, at)?);
                let mut made = Vec::new();
                for (origin, domain) in origins.into_iter().zip(&domains) {
                    let domain = self.triple(domain, at)?;
                    made.push(self.stencil(func.clone(), (origin, domain), externals.clone(), true, at)?);
                }
                self.list(made)
            }
            "WrappedHaloUpdater" => {
                let (Some(updater), Some(state)) =
                    (argument(given, 0, "updater"), argument(given, 1, "state"))
                else {
                    return Err(Self::refused("the halo updater", "an argument is missing", at));
                };
                let Built::Helper(BuildHelper::HaloUpdater { kind, width }) = updater else {
                    return Err(Self::unknown("the halo updater", updater, at));
                };
                let (kind, width, state) = (*kind, *width, state.clone());
                let mut fields = Vec::new();
                for (position, name) in [(2, "qty_x_names"), (3, "qty_y_names")] {
                    let Some(names) = argument(given, position, name).filter(|it| !it.is_none()).cloned()
                    else {
                        continue;
                    };
                    for it in self.elements(&names, at)? {
                        let Some(name) = it.as_text() else {
                            return Err(Self::unknown("the halo updater", &it, at));
                        };
                        fields.push(match &state {
                            Built::Table(table) => {
                                let found =
                                    self.tables[*table].iter().find(|it| it.0.as_text() == Some(name));
                                found.map_or_else(|| Built::Outside(name.to_owned()), |it| it.1.clone())
                            }
                            other => self.attribute(other, name, at)?,
                        });
                    }
                }
                Built::Exchange { fields, kind, width }
            }
            "cast_to_index3d" => match argument(given, 0, "val") {
                Some(it) => Built::triple(self.triple(it, at)?),
                None => return Ok(None),
            },
            "NullTimer" | "Timer" => Built::Helper(BuildHelper::Timer),
            "zeros" | "ones" | "empty" | "full" => self.array(name, given, wanted, at)?,
            _ => return Ok(None),
        }))
    }

    fn restricted(&self, grid: GridIndices, given: &BuildArguments<'p>, at: Span) -> Building<GridIndices> {
        let number = |position, name: &str| match argument(given, position, name).filter(|it| !it.is_none()) {
            Some(it) => it.as_int().map(Some).ok_or_else(|| Self::unknown("the levels", it, at)),
            None => Ok(None),
        };
        let k_start = number(0, "k_start")?.unwrap_or(0);
        let levels = grid.domain[2] - k_start;
        let nk = number(1, "nk")?.unwrap_or(levels);
        if k_start < 0 || levels < 0 || !(0..=levels).contains(&nk) {
            let why = format!("there are {} levels, and not {nk} from {k_start}", grid.domain[2]);
            return Err(Self::refused("`restrict_vertical`", &why, at));
        }
        let (mut origin, mut domain) = (grid.origin, grid.domain);
        origin[2] += k_start;
        domain[2] = nk;
        Ok(GridIndices { origin, domain, ..grid })
    }

    /// Three integers.
    pub(super) fn triple(&self, value: &Built<'p>, at: Span) -> Building<[i64; 3]> {
        let all = self.elements(value, at)?;
        if let Some(unknown) = all.iter().find(|it| it.is_unknown()) {
            return Err(Self::unknown("the range", unknown, at));
        }
        let numbers: Option<Vec<i64>> = all.iter().map(Built::as_int).collect();
        let numbers = numbers.and_then(|it| <[i64; 3]>::try_from(it).ok());
        numbers.ok_or_else(|| Self::refused("the range", "it has no three integers", at))
    }

    /// The axis of a dimension's name, and whether the dimension counts interfaces; `None` for one of data.
    fn dimension(value: &Built<'p>) -> Option<(Axis, bool)> {
        let name = value.as_text()?;
        let axis = match name.trim_end_matches("_interface") {
            "x" | "i" => Axis::I,
            "y" | "j" => Axis::J,
            "z" | "k" => Axis::K,
            _ => return None,
        };
        Some((axis, name.ends_with("_interface")))
    }

    /// The range of three dimensions, in their order.
    fn origin_domain(
        &self,
        grid: GridIndices,
        dims: &Built<'p>,
        halos: Option<&Built<'p>>,
        at: Span,
    ) -> Building<([i64; 3], [i64; 3])> {
        let (origin, domain) = self.along(grid, dims, halos, at)?;
        let [origin, domain] = [origin, domain].map(<[i64; 3]>::try_from);
        match (origin, domain) {
            (Ok(origin), Ok(domain)) => Ok((origin, domain)),
            _ => Err(Self::refused("the range", "its dimensions are not along I, J and K", at)),
        }
    }

    /// The first points and the sizes of dimensions, as `get_origin_domain` of NDSL has them.
    fn along(
        &self,
        grid: GridIndices,
        dims: &Built<'p>,
        halos: Option<&Built<'p>>,
        at: Span,
    ) -> Building<(Vec<i64>, Vec<i64>)> {
        let (mut origin, mut domain) = (Vec::new(), Vec::new());
        for it in self.elements(dims, at)? {
            let Some((axis, is_interface)) = Self::dimension(&it) else {
                return Err(Self::unknown("the range", &it, at));
            };
            origin.push(grid.origin[axis.index()]);
            domain.push(grid.domain[axis.index()] + i64::from(is_interface));
        }
        let halos = halos.map_or(Ok(Vec::new()), |it| self.elements(it, at))?;
        for (at_axis, halo) in halos.iter().enumerate().take(origin.len()) {
            let Some(n) = halo.as_int() else { return Err(Self::unknown("the halo", halo, at)) };
            origin[at_axis] -= n;
            domain[at_axis] += 2 * n;
        }
        Ok((origin, domain))
    }

    /// A field of a quantity factory; `how` is its method, or `local`.
    pub(super) fn quantity(
        &mut self,
        how: &str,
        given: &BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        let Some(dims) = argument(given, 0, "dims") else {
            return Err(Self::refused("the field", "its dimensions are not given", at));
        };
        let dims = self.elements(dims, at)?;
        let (value, dtype_at) = if how == "full" { (argument(given, 2, "value"), 3) } else { (None, 2) };
        let value = value.and_then(|it| match it {
            Built::Constant(it) => super::finish::number(it),
            _ => None,
        });
        let dtype = self.dtype(argument(given, dtype_at, "dtype"), at)?;
        let (mut axes, mut shape, mut origin) = (String::new(), Vec::new(), Vec::new());
        let halo = i64::from(self.request.halo);
        for it in &dims {
            match Self::dimension(it) {
                Some((Axis::K, _)) => {
                    axes.push('K');
                    shape.push(SizeEntry::Text("K+1".to_owned()));
                    origin.push(0);
                }
                Some((axis, _)) => {
                    axes += axis.name();
                    shape.push(SizeEntry::Text(format!("{}+{}", axis.name(), 2 * halo + 1)));
                    origin.push(halo);
                }
                None => {
                    let size = it.as_text().and_then(|it| self.data_dims.get(it));
                    let Some(size) = size else {
                        return Err(Self::unknown("the size of a data dimension", it, at));
                    };
                    shape.push(SizeEntry::Number((*size).into()));
                }
            }
        }
        if !["IJK", "IJ", "IK", "JK", "I", "J", "K", ""].contains(&axes.as_str()) {
            let why = format!("they are along {axes}, and fields lie along I, J and K in this order");
            return Err(Self::refused("the dimensions", &why, at));
        }
        let entry = FieldEntry {
            axes: Some(axes),
            shape: Some(shape),
            origin: Some(origin),
            ..FieldEntry::default()
        };
        self.field((how, value), dtype, entry, wanted, at)
    }

    /// A field that is made as an array of NumPy or of GT4Py's storages.
    fn array(
        &mut self,
        how: &str,
        given: &BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        let Some(shape) = argument(given, 0, "shape") else {
            return Err(Self::refused("the field", "its shape is not given", at));
        };
        let sizes: Option<Vec<i64>> = match shape {
            it @ Built::Constant(_) if it.as_int().is_some() => it.as_int().map(|it| vec![it]),
            it => self.elements(it, at)?.iter().map(Built::as_int).collect(),
        };
        let Some(sizes) = sizes else { return Err(Self::unknown("the shape", shape, at)) };
        let axes = match sizes.len() {
            1 => "K",
            2 => "IJ",
            _ => "IJK",
        };
        let value = argument(given, 1, "fill_value").and_then(|it| match it {
            Built::Constant(it) if how == "full" => super::finish::number(it),
            _ => None,
        });
        let dtype_at = if how == "full" { 2 } else { 1 };
        let dtype = argument(given, dtype_at, "dtype");
        let dtype = match dtype {
            Some(_) => self.dtype(dtype, at)?,
            None => DType::Float64,
        };
        let grid = self.grid();
        let sized = |(at, size): (usize, &i64)| match Axis::ALL
            .into_iter()
            .find(|it| axes.get(at..=at) == Some(it.name()))
        {
            Some(axis) => SizeEntry::Text(format!("{}{:+}", axis.name(), size - grid.domain[axis.index()])),
            None => SizeEntry::Number(*size),
        };
        let shape = sizes.iter().enumerate().map(sized).collect();
        let origin = Axis::ALL.into_iter().filter(|it| axes.contains(it.name()));
        let origin = origin.map(|it| grid.origin[it.index()]).collect();
        let entry = FieldEntry {
            axes: Some(axes.to_owned()),
            shape: Some(shape),
            origin: Some(origin),
            ..FieldEntry::default()
        };
        self.field((how, value), dtype, entry, wanted, at)
    }

    fn dtype(&self, told: Option<&Built<'p>>, at: Span) -> Building<DType> {
        let usual = self.names.config.literal_float;
        match told {
            None => Ok(usual),
            Some(it @ Built::Constant(constant)) => {
                dtype_of(constant, usual).ok_or_else(|| Self::refused("the type", &it.kind(), at))
            }
            Some(it) => Err(Self::unknown("the type", it, at)),
        }
    }

    /// Adds a field; `how` is the function that makes it.
    fn field(
        &mut self,
        (how, value): (&str, Option<serde_json::Value>),
        dtype: DType,
        entry: FieldEntry,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        let name = self.name(wanted.unwrap_or("field"));
        let one = || if dtype.is_float() { 1.0.into() } else { 1.into() };
        let (role, init) = match how {
            "local" => (RoleEntry::Local, None),
            "ones" => (RoleEntry::State, Some(one())),
            "full" => match value {
                Some(value) => (RoleEntry::State, Some(value)),
                None => return Err(Self::refused("the field", "its value is not known", at)),
            },
            _ => (RoleEntry::State, None),
        };
        let entry = FieldEntry {
            role: Some(role),
            dtype: Some(dtype.name().to_owned()),
            init,
            at: self.entry_place(at),
            ..entry
        };
        self.fields.push((name.clone(), entry));
        Ok(Built::Field(name))
    }

    /// The function that a value is, for a stencil.
    pub(super) fn function_for(value: &Built<'p>, at: Span) -> Building<FunctionId> {
        match value {
            Built::Constant(Constant::Function(it)) => Ok(*it),
            other => Err(Self::unknown("the stencil", other, at)),
        }
    }
}
