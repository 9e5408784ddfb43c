//! A text of blocks, as elements. Texts become text nodes: whatever stands in them is shown and not obeyed.

use isobar_lessons::markdown::{Block, Inline};
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{Document, Element};

use crate::bridge::locale::t;

/// Where a link leads; `None` where it leads out of what the page has, and is shown as text.
pub type Lead = fn(&str) -> Option<String>;

/// Links of lessons: views of the page, and pages of others.
#[must_use]
pub fn lead(to: &str) -> Option<String> {
    (to.starts_with("#/") || to.starts_with("https://")).then(|| to.to_owned())
}

/// Blocks that need nothing but to be read.
#[component]
pub fn Prose(blocks: Vec<Block>, #[prop(default = lead)] leads: Lead) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    node.on_load(move |node| {
        if let Some(document) = web_sys::window().and_then(|it| it.document()) {
            let writer = Writer { document, leads };
            // It may be the element of a text before.
            node.set_text_content(None);
            writer.blocks(&node, &blocks);
        }
    });
    view! { <div class="prose" node_ref=node></div> }
}

struct Writer {
    document: Document,
    leads: Lead,
}

impl Writer {
    /// A new element at the end of `parent`; the parent where the browser refuses, which it has no reason to.
    fn add(&self, parent: &Element, name: &str) -> Element {
        let Ok(element) = self.document.create_element(name) else { return parent.clone() };
        // Refused for what is no element.
        let _ = parent.append_child(&element);
        element
    }

    fn text(&self, parent: &Element, text: &str) {
        // As above.
        let _ = parent.append_child(&self.document.create_text_node(text));
    }

    fn blocks(&self, parent: &Element, blocks: &[Block]) {
        for block in blocks {
            self.block(parent, block);
        }
    }

    fn block(&self, parent: &Element, block: &Block) {
        match block {
            Block::Heading { level, text, id } => {
                // The first level is the title of the view.
                let name = match level {
                    1 => "h2",
                    2 => "h3",
                    3 => "h4",
                    _ => "h5",
                };
                let heading = self.add(parent, name);
                set(&heading, "id", &format!("h-{id}"));
                set(&heading, "tabindex", "-1");
                self.inlines(&heading, text);
            }
            Block::Paragraph(text) => self.inlines(&self.add(parent, "p"), text),
            Block::Code { text, .. } => {
                let pre = self.add(parent, "pre");
                set(&pre, "tabindex", "0");
                self.text(&self.add(&pre, "code"), text);
            }
            Block::List { is_ordered, items, .. } => {
                let list = self.add(parent, if *is_ordered { "ol" } else { "ul" });
                for item in items {
                    let item_node = self.add(&list, "li");
                    // A lone paragraph needs no element of its own.
                    match item.as_slice() {
                        [Block::Paragraph(text), rest @ ..] => {
                            self.inlines(&item_node, text);
                            self.blocks(&item_node, rest);
                        }
                        all => self.blocks(&item_node, all),
                    }
                }
            }
            Block::Table { head, rows } => {
                let around = self.add(parent, "div");
                set(&around, "class", "prose-table");
                set(&around, "tabindex", "0");
                set(&around, "role", "region");
                set(&around, "aria-label", t!("prose-table"));
                let table = self.add(&around, "table");
                let row = self.add(&self.add(&table, "thead"), "tr");
                for cell in head {
                    let cell_node = self.add(&row, "th");
                    set(&cell_node, "scope", "col");
                    self.inlines(&cell_node, cell);
                }
                let body = self.add(&table, "tbody");
                for cells in rows {
                    let row = self.add(&body, "tr");
                    for cell in cells {
                        self.inlines(&self.add(&row, "td"), cell);
                    }
                }
            }
            Block::Quote(inner) => self.blocks(&self.add(parent, "blockquote"), inner),
            Block::Rule => {
                self.add(parent, "hr");
            }
            Block::Special { blocks, .. } => self.blocks(&self.add(parent, "div"), blocks),
        }
    }

    fn inlines(&self, parent: &Element, inlines: &[Inline]) {
        for inline in inlines {
            match inline {
                Inline::Text(text) => self.text(parent, text),
                Inline::Code(text) => self.text(&self.add(parent, "code"), text),
                Inline::Strong(inner) => self.inlines(&self.add(parent, "strong"), inner),
                Inline::Emphasis(inner) => self.inlines(&self.add(parent, "em"), inner),
                Inline::Link { to, inner } => match (self.leads)(to) {
                    Some(address) => {
                        let link = self.add(parent, "a");
                        set(&link, "href", &address);
                        if address.starts_with("https://") {
                            set(&link, "target", "_blank");
                            set(&link, "rel", "noreferrer");
                        }
                        self.inlines(&link, inner);
                    }
                    None => self.inlines(parent, inner),
                },
                Inline::Term { word, shown } => {
                    let term = self.add(parent, "button");
                    set(&term, "type", "button");
                    set(&term, "class", "term");
                    set(&term, "data-term", &word.to_lowercase());
                    set(&term, "aria-describedby", "term-card");
                    self.text(&term, shown);
                }
            }
        }
    }
}

fn set(element: &Element, name: &str, value: &str) {
    // Plain names are never refused.
    let _ = element.set_attribute(name, value);
}
