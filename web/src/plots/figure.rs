//! A picture on the page: the raster on a canvas, everything around it as lines and words.

use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, ImageData, ResizeObserver};

use super::chart::{self, Chart};
use super::drawing::Drawing;
use super::plane::{self, DrawingArea, Plane, PlaneLayout};
use super::raster::{Pixels, RowDirection, Style, cell_at, fingerprint, paint, pattern_colours};
use super::scene::Frame;
use crate::bridge::locale::t;

/// Of the window's height, the part that a picture takes at most.
const MOST_OF_WINDOW: f64 = 0.56;
const LEAST_HEIGHT: f64 = 160.0;

/// A cell of a picture: its column and its row.
pub type Cell = (usize, usize);

/// Draws a plane and tells which cell is pointed at or picked. Reads the plane.
#[component]
pub fn PlaneFigure(
    plane: Signal<Option<Plane>>,
    /// The contents of the picture, in words.
    label: Signal<String>,
    /// The level that is drawn.
    level: Signal<u64>,
    /// The cell under the pointer.
    hover: RwSignal<Option<Cell>>,
    /// The cell that was picked.
    #[prop(into)]
    picked: Signal<Option<Cell>>,
    on_pick: impl Fn(Cell) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let around = NodeRef::<Div>::new();
    let node = NodeRef::<Canvas>::new();
    let room = room_of(around);
    let laid = Memo::new(move |_| {
        let room = room.get();
        plane.with(|it| it.as_ref().map(|it| plane::layout(it, room)).unwrap_or_default())
    });
    let scene = Memo::new(move |_| laid.with(|it| it.scene.clone()));
    Effect::new(move |_| {
        if let Some(canvas) = node.get() {
            plane.with(|plane| {
                if let Some(plane) = plane {
                    put(&canvas, &pixels(plane, laid.get().cell, plane.is_dark, 2));
                }
            });
        }
    });
    let hash = move || plane.with(|it| it.as_ref().map(|it| fingerprint(&it.values, it.width)));
    let size = move || plane.with(|it| it.as_ref().map(|it| (it.width, it.height, it.rows)));
    let under = move |event: &web_sys::MouseEvent| {
        let (canvas, (width, height, rows)) = (node.get_untracked()?, untrack(size)?);
        let area = canvas.get_bounding_client_rect();
        let x = (f64::from(event.client_x()) - area.left()) / area.width();
        let y = (f64::from(event.client_y()) - area.top()) / area.height();
        cell_at(x, y, width, height, rows)
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let Some((width, height, rows)) = untrack(size) else { return };
        let up = if rows == RowDirection::Upward { 1 } else { -1 };
        let (by_column, by_row) = match event.key().as_str() {
            "ArrowLeft" => (-1, 0),
            "ArrowRight" => (1, 0),
            "ArrowUp" => (0, up),
            "ArrowDown" => (0, -up),
            "Home" => (isize::MIN, 0),
            "End" => (isize::MAX, 0),
            "Enter" | " " => (0, 0),
            _ => return,
        };
        event.prevent_default();
        let (column, row) = picked.get_untracked().unwrap_or((width / 2, height / 2));
        let moved = |at: usize, by: isize, n: usize| at.saturating_add_signed(by).min(n.saturating_sub(1));
        on_pick((moved(column, by_column, width), moved(row, by_row, height)));
    };
    // Squares over the picture, which move without it being drawn again.
    let mark = move |cell: Option<Cell>| {
        let (column, row) = cell?;
        let PlaneLayout { frame, .. } = laid.get();
        let (width, height, rows) = size()?;
        if column >= width || row >= height {
            return None;
        }
        let (wide, high) = (frame.width / width as f64, frame.height / height as f64);
        let line = if rows == RowDirection::Upward { height - 1 - row } else { row };
        Some(Frame {
            x: frame.x + column as f64 * wide,
            y: frame.y + line as f64 * high,
            width: wide,
            height: high,
        })
    };
    let over = move |class: &'static str, cell: Signal<Option<Cell>>| {
        let frame = Memo::new(move |_| mark(cell.get()));
        move || {
            frame.get().map(|it| {
                view! {
                    <div
                        class=class
                        style:left=px(it.x)
                        style:top=px(it.y)
                        style:width=px(it.width.max(2.0))
                        style:height=px(it.height.max(2.0))
                    ></div>
                }
            })
        }
    };
    let place = move |of: fn(Frame) -> f64| laid.with(|it| px(of(it.frame)));
    view! {
        <div class="figure" node_ref=around>
            <Drawing scene=scene />
            <canvas
                class="field-canvas"
                class:coarse=move || laid.with(|it| it.cell[0] > 1 && it.cell[1] > 1)
                data-testid="field-canvas"
                data-hash=hash
                data-k=move || level.get().to_string()
                role="application"
                aria-roledescription=t!("plots-picture")
                tabindex="0"
                aria-label=move || label.get()
                style:left=move || place(|it| it.x)
                style:top=move || place(|it| it.y)
                style:width=move || place(|it| it.width)
                style:height=move || place(|it| it.height)
                node_ref=node
                on:pointermove=move |event| hover.set(under(&event))
                on:pointerleave=move |_| hover.set(None)
                on:click=move |event| {
                    if let Some(cell) = under(&event) {
                        on_pick(cell);
                    }
                }
                on:keydown=on_key
            ></canvas>
            {over("cell-hover", hover.into())}
            {over("cell-picked", picked)}
        </div>
    }
}

/// Draws a chart. Reads it.
#[component]
pub fn ChartFigure(
    chart: Signal<Option<Chart>>,
    /// The contents of the chart, in words.
    label: Signal<String>,
    test_id: &'static str,
) -> impl IntoView {
    let around = NodeRef::<Div>::new();
    let room = room_of(around);
    let scene = Memo::new(move |_| {
        let room = room.get();
        chart.with(|it| it.as_ref().map(|it| chart::layout(it, room)).unwrap_or_default())
    });
    view! {
        <div class="figure" role="img" aria-label=move || label.get() data-testid=test_id node_ref=around>
            <Drawing scene=scene />
        </div>
    }
}

fn px(it: f64) -> String {
    format!("{it:.2}px")
}

/// The room that an element has, from now on.
fn room_of(node: NodeRef<Div>) -> Signal<DrawingArea> {
    let room = RwSignal::new(DrawingArea { width: 0.0, height: LEAST_HEIGHT, text: 16.0, density: 1.0 });
    Effect::new(move |before: Option<Option<ResizeWatcher>>| {
        let element = node.get()?;
        if let Some(Some(before)) = before {
            return Some(before);
        }
        let element: Element = element.unchecked_into();
        let measured = element.clone();
        let measure = move || {
            let found = measure(&measured);
            // A pane that is hidden has no width, and will have its old one again.
            if found.width > 0.0 && room.try_get_untracked().is_some_and(|it| it != found) {
                room.try_set(found);
            }
        };
        measure();
        ResizeWatcher::new(&element, measure)
    });
    room.into()
}

/// Watches the size of an element until it is dropped.
struct ResizeWatcher {
    observer: ResizeObserver,
    _heard: Closure<dyn Fn()>,
}

impl ResizeWatcher {
    fn new(element: &Element, resized: impl Fn() + 'static) -> Option<Self> {
        let heard = Closure::<dyn Fn()>::new(resized);
        let observer = ResizeObserver::new(heard.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _heard: heard })
    }
}

impl Drop for ResizeWatcher {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

fn measure(element: &Element) -> DrawingArea {
    let window = web_sys::window();
    let number = |it: Result<JsValue, JsValue>| it.ok().and_then(|it| it.as_f64());
    let high = window.as_ref().and_then(|it| number(it.inner_height())).unwrap_or(800.0);
    let density = window.as_ref().map_or(1.0, |it| it.device_pixel_ratio());
    let root = window.as_ref().and_then(|it| it.document()).and_then(|it| it.document_element());
    let style = window.as_ref().zip(root).and_then(|(it, root)| it.get_computed_style(&root).ok().flatten());
    let text = style.and_then(|it| it.get_property_value("font-size").ok());
    let text = text.and_then(|it| it.trim_end_matches("px").parse().ok()).unwrap_or(16.0);
    DrawingArea {
        width: f64::from(element.client_width()),
        height: (high * MOST_OF_WINDOW).max(LEAST_HEIGHT),
        text,
        density: density.clamp(1.0, 4.0),
    }
}

/// The pixels of a plane.
pub(super) fn pixels(plane: &Plane, cell: [u32; 2], is_dark: bool, stripe: u32) -> Pixels {
    let style = Style {
        map: plane.map,
        range: plane.range,
        cell,
        rows: plane.rows,
        pattern: pattern_colours(is_dark),
        stripe,
    };
    paint(&plane.values, plane.width, plane.height, &style)
}

/// Makes a canvas as large as the pixels and puts them there.
pub(super) fn put(canvas: &HtmlCanvasElement, pixels: &Pixels) {
    // Setting a size clears the canvas, the same one too.
    if (canvas.width(), canvas.height()) != (pixels.width, pixels.height) {
        canvas.set_width(pixels.width);
        canvas.set_height(pixels.height);
    }
    let image =
        ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels.rgba), pixels.width, pixels.height);
    if let (Some(context), Ok(image)) = (context_of(canvas), image) {
        // Refused for images that were taken away only.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

pub(super) fn context_of(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten().and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok())
}
