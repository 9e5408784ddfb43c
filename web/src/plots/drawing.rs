//! A scene on the page, as elements, and on a canvas.

use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::CanvasRenderingContext2d;

use super::scene::{
    Anchor, Dash, Direction, FONT, Frame, GROUND, OPACITY, Scene, SceneMark, Weight, hex, path, ramp_name,
    turned,
};

/// The marks as elements of the page, coloured by its style sheet.
#[component]
pub fn Drawing(scene: Memo<Scene>) -> impl IntoView {
    let size = move |of: fn(&Scene) -> f64| scene.with(|it| format!("{:.1}", of(it)));
    view! {
        <svg
            class="drawing"
            aria-hidden="true"
            focusable="false"
            width=move || size(|it| it.width)
            height=move || size(|it| it.height)
        >
            {move || scene.with(|it| it.marks.iter().map(element).collect_view())}
        </svg>
    }
}

fn element(mark: &SceneMark) -> AnyView {
    let number = |it: f64| format!("{it:.2}");
    match mark {
        SceneMark::Line { points, ink, width, dash } => view! {
            <path
                class=ink.class()
                d=path(points)
                fill="none"
                stroke="currentColor"
                stroke-width=width.to_string()
                stroke-linejoin="round"
                stroke-dasharray=(*dash == Dash::Dashed).then_some("5 4")
            />
        }
        .into_any(),
        SceneMark::Area { points, ink } => view! {
            <path class=ink.class() d=path(points) fill="currentColor" fill-opacity=OPACITY.to_string() />
        }
        .into_any(),
        SceneMark::Dot { at, radius, ink } => view! {
            <circle
                class=ink.class()
                cx=number(at[0])
                cy=number(at[1])
                r=radius.to_string()
                fill="currentColor"
            />
        }
        .into_any(),
        SceneMark::Edge { frame, ink } => view! {
            <rect
                class=ink.class()
                x=number(frame.x)
                y=number(frame.y)
                width=number(frame.width)
                height=number(frame.height)
                fill="none"
                stroke="currentColor"
            />
        }
        .into_any(),
        SceneMark::Bar { frame, ink } => view! {
            <rect
                class=ink.class()
                x=number(frame.x)
                y=number(frame.y)
                width=number(frame.width)
                height=number(frame.height)
                fill="currentColor"
            />
        }
        .into_any(),
        SceneMark::Swatch { frame, colour } => view! {
            <rect
                x=number(frame.x)
                y=number(frame.y)
                width=number(frame.width)
                height=number(frame.height)
                fill=hex(*colour)
            />
        }
        .into_any(),
        SceneMark::Ramp { frame, stops } => {
            let name = ramp_name(stops);
            let stops = stops
                .iter()
                .map(|(at, colour)| view! { <stop offset=format!("{at:.4}") stop-color=hex(*colour) /> })
                .collect_view();
            view! {
                <linearGradient id=name.clone()>{stops}</linearGradient>
                <rect
                    x=number(frame.x)
                    y=number(frame.y)
                    width=number(frame.width)
                    height=number(frame.height)
                    fill=format!("url(#{name})")
                />
            }
            .into_any()
        }
        SceneMark::Text { at, text, anchor, font, ink } => view! {
            <text
                class=ink.class()
                x=number(at[0])
                y=number(at[1])
                text-anchor=anchor.name()
                font-size=number(font.size)
                font-weight=(font.weight == Weight::Bold).then_some("600")
                fill="currentColor"
                transform=turned(*at, *font)
            >
                {text.clone()}
            </text>
        }
        .into_any(),
    }
}

impl Scene {
    /// Draws the marks on a canvas, `scale` pixels to one of the page.
    pub fn draw(&self, context: &CanvasRenderingContext2d, scale: f64) {
        // Scaling fails for no number.
        let _ = context.set_transform(scale, 0.0, 0.0, scale, 0.0, 0.0);
        for mark in &self.marks {
            draw(context, mark);
        }
    }

    /// Fills the ground, before the raster is put on it.
    pub fn draw_ground(&self, context: &CanvasRenderingContext2d, scale: f64) {
        context.set_fill_style_str(GROUND);
        context.fill_rect(0.0, 0.0, self.width * scale, self.height * scale);
    }
}

fn draw(context: &CanvasRenderingContext2d, mark: &SceneMark) {
    let trace = |points: &[[f64; 2]]| {
        context.begin_path();
        let mut is_broken = true;
        for [x, y] in points {
            if !x.is_finite() || !y.is_finite() {
                is_broken = true;
            } else if std::mem::take(&mut is_broken) {
                context.move_to(*x, *y);
            } else {
                context.line_to(*x, *y);
            }
        }
    };
    let fill = |frame: &Frame| context.fill_rect(frame.x, frame.y, frame.width, frame.height);
    match mark {
        SceneMark::Line { points, ink, width, dash } => {
            trace(points);
            context.set_stroke_style_str(ink.colour());
            context.set_line_width(*width);
            let mut dashes = js_sys::Array::new();
            if *dash == Dash::Dashed {
                dashes.extend([5.0, 4.0].map(JsValue::from));
            }
            // Refused for lengths that are no numbers only.
            let _ = context.set_line_dash(&dashes);
            context.stroke();
            let _ = context.set_line_dash(&js_sys::Array::new());
        }
        SceneMark::Area { points, ink } => {
            trace(points);
            context.set_global_alpha(OPACITY);
            context.set_fill_style_str(ink.colour());
            context.fill();
            context.set_global_alpha(1.0);
        }
        SceneMark::Dot { at, radius, ink } => {
            context.begin_path();
            // Refused for a negative radius only.
            let _ = context.arc(at[0], at[1], *radius, 0.0, std::f64::consts::TAU);
            context.set_fill_style_str(ink.colour());
            context.fill();
        }
        SceneMark::Edge { frame, ink } => {
            context.set_stroke_style_str(ink.colour());
            context.set_line_width(1.0);
            context.stroke_rect(frame.x, frame.y, frame.width, frame.height);
        }
        SceneMark::Bar { frame, ink } => {
            context.set_fill_style_str(ink.colour());
            fill(frame);
        }
        SceneMark::Swatch { frame, colour } => {
            context.set_fill_style_str(&hex(*colour));
            fill(frame);
        }
        SceneMark::Ramp { frame, stops } => {
            let ramp = context.create_linear_gradient(frame.x, 0.0, frame.right(), 0.0);
            for (at, colour) in stops {
                // Refused outside of 0 to 1 only.
                #[expect(clippy::cast_possible_truncation, reason = "0 to 1")]
                let _ = ramp.add_color_stop(*at as f32, &hex(*colour));
            }
            context.set_fill_style_canvas_gradient(&ramp);
            fill(frame);
        }
        SceneMark::Text { at, text, anchor, font, ink } => {
            let weight = if font.weight == Weight::Bold { "600 " } else { "" };
            context.set_font(&format!("{weight}{:.2}px {FONT}", font.size));
            context.set_text_align(anchor.name());
            if *anchor == Anchor::Middle {
                context.set_text_align("center");
            }
            context.set_fill_style_str(ink.colour());
            context.save();
            // Moving and turning fail for no number, and writing for no text.
            let _ = context.translate(at[0], at[1]);
            if font.direction == Direction::Upward {
                let _ = context.rotate(-std::f64::consts::FRAC_PI_2);
            }
            let _ = context.fill_text(text, 0.0, 0.0);
            context.restore();
        }
    }
}
