//! A drawing in steps: what is known of it is copied, and nothing else of the file.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Document, DomParser, Element, SupportedType};

use crate::bridge::locale::t;

const SVG: &str = "http://www.w3.org/2000/svg";
/// The elements that a drawing may have.
const ELEMENTS: [&str; 8] = ["g", "rect", "line", "path", "polygon", "circle", "text", "tspan"];
const ATTRIBUTES: [&str; 18] = [
    "x",
    "y",
    "width",
    "height",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "d",
    "points",
    "class",
    "text-anchor",
    "transform",
    "data-step",
    "rx",
];
/// Elements that are nested deeper than this are left out.
const DEEPEST: usize = 8;

/// The texts that were read from a drawing.
#[derive(Clone, Debug, Default)]
struct Drawing {
    title: String,
    about: String,
    captions: Vec<String>,
}

/// A drawing with its captions; buttons go from step to step, where it has several.
#[component]
pub fn Figure(
    /// The text of the SVG file, once it is here.
    #[prop(into)]
    svg: Signal<Option<std::sync::Arc<str>>>,
) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let drawing = RwSignal::new(Drawing::default());
    let step = RwSignal::new(1_usize);
    Effect::new(move |_| {
        let (Some(node), Some(svg)) = (node.get(), svg.get()) else { return };
        if let Some((found, element)) = read(&svg) {
            node.set_text_content(None);
            // Refused for what is no element.
            let _ = node.append_child(&element);
            drawing.set(found);
        }
    });
    Effect::new(move |_| {
        let at = step.get();
        drawing.track();
        if let Some(node) = node.get() {
            show(&node, at);
        }
    });
    let count = move || drawing.with(|it| it.captions.len());
    let caption = move || drawing.with(|it| it.captions.get(step.get() - 1).cloned().unwrap_or_default());
    let to = move |by: isize| {
        let last = untrack(count).max(1);
        step.update(|it| *it = it.saturating_add_signed(by).clamp(1, last));
    };
    view! {
        <figure class="lesson-drawing" data-testid="figure">
            <div
                class="figure-drawing"
                role="img"
                aria-label=move || drawing.with(|it| format!("{}. {}", it.title, it.about))
                node_ref=node
            ></div>
            <figcaption>
                <p class="figure-caption" role="status">{caption}</p>
                <Show when=move || 1 < count()>
                    <div class="figure-steps" role="group" aria-label=t!("figure-steps")>
                        <button type="button" disabled=move || { step.get() <= 1 } on:click=move |_| to(-1)>{t!("back")}</button>
                        <span class="muted">{move || t!("part-of", at = step.get(), of = count())}</span>
                        <button
                            type="button"
                            data-testid="figure-next"
                            disabled=move || { step.get() >= count() }
                            on:click=move |_| to(1)
                        >
                            {t!("figure-next")}
                        </button>
                    </div>
                </Show>
            </figcaption>
        </figure>
    }
}

/// Shows what belongs to a step: `3` is from the third on, `2-4` from the second to the fourth.
fn show(root: &Element, step: usize) {
    let Ok(all) = root.query_selector_all("[data-step]") else { return };
    for at in 0..all.length() {
        let Some(element) = all.item(at).and_then(|it| it.dyn_into::<Element>().ok()) else { continue };
        let range = element.get_attribute("data-step").unwrap_or_default();
        let (first, last) = range.split_once('-').unwrap_or((&range, ""));
        let is_on = step >= first.parse().unwrap_or(1) && step <= last.parse().unwrap_or(usize::MAX);
        // A boolean attribute is never refused.
        let _ = element.toggle_attribute_with_force("data-off", !is_on);
    }
}

fn read(svg: &str) -> Option<(Drawing, Element)> {
    let document = web_sys::window()?.document()?;
    let parsed = DomParser::new().ok()?.parse_from_string(svg, SupportedType::ImageSvgXml).ok()?;
    let root = parsed.document_element().filter(|it| it.local_name() == "svg")?;
    let copied = document.create_element_ns(Some(SVG), "svg").ok()?;
    copied.set_attribute("viewBox", &root.get_attribute("viewBox")?).ok()?;
    copied.set_attribute("aria-hidden", "true").ok()?;
    let mut drawing = Drawing::default();
    let mut child = root.first_element_child();
    while let Some(element) = child {
        let text = element.text_content().unwrap_or_default();
        match element.local_name().as_str() {
            "title" => drawing.title = text,
            "desc" if element.has_attribute("data-step") => drawing.captions.push(text),
            "desc" => drawing.about = text,
            _ => copy(&document, &element, &copied, 0),
        }
        child = element.next_element_sibling();
    }
    Some((drawing, copied))
}

fn copy(document: &Document, from: &Element, into: &Element, depth: usize) {
    let name = from.local_name();
    if depth > DEEPEST || !ELEMENTS.contains(&name.as_str()) {
        return;
    }
    let Ok(copied) = document.create_element_ns(Some(SVG), &name) else { return };
    for attribute in ATTRIBUTES {
        if let Some(value) = from.get_attribute(attribute) {
            // Plain names are never refused.
            let _ = copied.set_attribute(attribute, &value);
        }
    }
    let mut child = from.first_element_child();
    if child.is_none() {
        copied.set_text_content(from.text_content().as_deref());
    }
    while let Some(element) = child {
        copy(document, &element, &copied, depth + 1);
        child = element.next_element_sibling();
    }
    // Refused for what is no element.
    let _ = into.append_child(&copied);
}
