//! A plane of values on a canvas, with what stands under the pointer.

use std::sync::Arc;

use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::colormap::{Colormap, Range};
use super::raster::{Rows, Style, cell_at, paint};

/// Pixels along the longer edge of a picture, at least.
const EDGE: u32 = 512;

/// A plane to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub values: Arc<Vec<f64>>,
    pub width: usize,
    pub height: usize,
    pub map: Colormap,
    pub range: Range,
    pub rows: Rows,
    /// Light or dark: the patterns follow the page.
    pub is_dark: bool,
}

/// Draws a picture and tells the column and row under the pointer. Reads the picture.
#[component]
pub fn SliceCanvas(
    picture: Signal<Option<Picture>>,
    /// What the picture shows, in words.
    label: Signal<String>,
    /// The level that is drawn.
    level: Signal<u64>,
    /// Column and row under the pointer or the keyboard's cursor.
    cursor: RwSignal<Option<(usize, usize)>>,
) -> impl IntoView {
    let node = NodeRef::<Canvas>::new();
    Effect::new(move |_| {
        if let Some(canvas) = node.get() {
            picture.with(|it| {
                if let Some(picture) = it {
                    draw(&canvas, picture);
                }
            });
        }
    });
    let hash = move || picture.with(|it| it.as_ref().map(|it| fingerprint(&it.values, it.width)));
    let size = move || picture.with(|it| it.as_ref().map(|it| (it.width, it.height, it.rows)));
    let on_move = move |event: leptos::ev::PointerEvent| {
        let (Some(canvas), Some((width, height, rows))) = (node.get_untracked(), untrack(size)) else {
            return;
        };
        let area = canvas.get_bounding_client_rect();
        let x = (f64::from(event.client_x()) - area.left()) / area.width();
        let y = (f64::from(event.client_y()) - area.top()) / area.height();
        cursor.set(cell_at(x, y, width, height, rows));
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let Some((width, height, rows)) = untrack(size) else { return };
        let up = if rows == Rows::Upward { 1 } else { -1 };
        let (by_column, by_row) = match event.key().as_str() {
            "ArrowLeft" => (-1, 0),
            "ArrowRight" => (1, 0),
            "ArrowUp" => (0, up),
            "ArrowDown" => (0, -up),
            _ => return,
        };
        event.prevent_default();
        let (column, row) = cursor.get_untracked().unwrap_or((width / 2, height / 2));
        let moved = |at: usize, by: isize, n: usize| at.saturating_add_signed(by).min(n.saturating_sub(1));
        cursor.set(Some((moved(column, by_column, width), moved(row, by_row, height))));
    };
    view! {
        <canvas
            class="field-canvas"
            data-testid="field-canvas"
            data-hash=hash
            data-k=move || level.get().to_string()
            role="img"
            tabindex="0"
            aria-label=move || label.get()
            node_ref=node
            on:pointermove=on_move
            on:pointerleave=move |_| cursor.set(None)
            on:keydown=on_key
        ></canvas>
    }
}

fn draw(canvas: &HtmlCanvasElement, picture: &Picture) {
    let longer = u32::try_from(picture.width.max(picture.height).max(1)).unwrap_or(u32::MAX);
    let style = Style {
        map: picture.map,
        range: picture.range,
        cell: EDGE.div_ceil(longer).clamp(1, 64),
        rows: picture.rows,
        pattern: if picture.is_dark {
            [[0x12, 0x16, 0x1f], [0xe7, 0xea, 0xf0]]
        } else {
            [[0xff, 0xff, 0xff], [0x1b, 0x21, 0x30]]
        },
    };
    let pixels = paint(&picture.values, picture.width, picture.height, &style);
    canvas.set_width(pixels.width);
    canvas.set_height(pixels.height);
    let context =
        canvas.get_context("2d").ok().flatten().and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok());
    let image =
        ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels.rgba), pixels.width, pixels.height);
    if let (Some(context), Ok(image)) = (context, image) {
        // Refused for images that were taken away only.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

/// Changes with the values and with nothing else (FNV-1a).
fn fingerprint(values: &[f64], width: usize) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bits = values.iter().map(|it| it.to_bits());
    for bits in std::iter::once(width as u64).chain(bits) {
        hash = (hash ^ bits).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 32;
    }
    format!("{hash:016x}")
}

/// A strip of all colours of a map, as a canvas.
#[component]
pub fn ColourStrip(map: Signal<Colormap>) -> impl IntoView {
    let node = NodeRef::<Canvas>::new();
    Effect::new(move |_| {
        let Some(canvas) = node.get() else { return };
        let values: Vec<f64> = (0..=255).map(f64::from).collect();
        let range = Range { low: 0.0, high: 255.0 };
        draw_strip(&canvas, &values, map.get(), range);
    });
    view! { <canvas class="colour-strip" aria-hidden="true" node_ref=node></canvas> }
}

fn draw_strip(canvas: &HtmlCanvasElement, values: &[f64], map: Colormap, range: Range) {
    let style = Style { map, range, cell: 1, rows: Rows::Downward, pattern: [[0; 3]; 2] };
    let pixels = paint(values, values.len(), 1, &style);
    canvas.set_width(pixels.width);
    canvas.set_height(pixels.height);
    let context =
        canvas.get_context("2d").ok().flatten().and_then(|it| it.dyn_into::<CanvasRenderingContext2d>().ok());
    let image =
        ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels.rgba), pixels.width, pixels.height);
    if let (Some(context), Ok(image)) = (context, image) {
        // Refused for images that were taken away only.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_follows_values_and_shape() {
        assert_eq!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[1.0, 2.0], 2));
        assert_ne!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[1.0, 2.0], 1));
        assert_ne!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[2.0, 1.0], 2));
        assert_ne!(fingerprint(&[0.0], 1), fingerprint(&[-0.0], 1));
    }
}
