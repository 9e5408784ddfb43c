//! Pictures as files, with axes and colour bar: pixels and lines.

use wasm_bindgen::JsCast;
use web_sys::HtmlCanvasElement;

use super::chart;
use super::export::PlotDrawing;
use super::figure::{context_of, pixels, put};
use super::plane::{self, DrawingArea, PlaneLayout};
use super::scene::Scene;

/// A file has this size, whatever the page has.
const ROOM: DrawingArea = DrawingArea { width: 640.0, height: 560.0, text: 16.0, density: SCALE };
/// Pixels of a file of pixels to one of its lines.
const SCALE: f64 = 2.0;

impl PlotDrawing {
    /// The bytes of a PNG; `None` where the browser makes none.
    #[must_use]
    pub fn png(&self) -> Option<Vec<u8>> {
        let (scene, raster) = self.parts();
        let canvas = canvas()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred pixels")]
        let size = |it: f64| (it * SCALE).ceil() as u32;
        canvas.set_width(size(scene.width));
        canvas.set_height(size(scene.height));
        let context = context_of(&canvas)?;
        scene.draw_ground(&context, SCALE);
        if let Some((raster, PlaneLayout { frame, .. })) = &raster {
            context.set_image_smoothing_enabled(false);
            context
                .draw_image_with_html_canvas_element_and_dw_and_dh(
                    raster,
                    frame.x * SCALE,
                    frame.y * SCALE,
                    frame.width * SCALE,
                    frame.height * SCALE,
                )
                .ok()?;
        }
        scene.draw(&context, SCALE);
        let address = canvas.to_data_url().ok()?;
        let bytes = web_sys::window()?.atob(address.split_once(',')?.1).ok()?;
        // The browser has each byte as a character of that number.
        bytes.chars().map(|it| u8::try_from(it).ok()).collect()
    }

    /// The text of an SVG; `None` where the browser makes no picture of the values.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let (scene, raster) = self.parts();
        Some(match raster {
            Some((raster, PlaneLayout { frame, .. })) => {
                let address = raster.to_data_url().ok()?;
                scene.to_svg(Some((&address, frame)))
            }
            None => scene.to_svg(None),
        })
    }

    /// Returns the scene around the values, and for a plane the raster of its values with the layout.
    fn parts(&self) -> (Scene, Option<(HtmlCanvasElement, PlaneLayout)>) {
        match self {
            PlotDrawing::Plane(plane) => {
                let laid = plane::layout(plane, ROOM);
                let raster = canvas().inspect(|it| put(it, &pixels(plane, laid.cell, false, 3)));
                (laid.scene.clone(), raster.map(|it| (it, laid)))
            }
            PlotDrawing::Chart(chart) => (chart::layout(chart, ROOM), None),
        }
    }
}

fn canvas() -> Option<HtmlCanvasElement> {
    let document = web_sys::window()?.document()?;
    document.create_element("canvas").ok()?.dyn_into().ok()
}
