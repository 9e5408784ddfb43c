//! The gallery: a card for each example.

use isobar_page_model::route::COURSE;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::gallery::{ENTRIES, ExampleSize, GalleryEntry, Group};
use crate::state::sentences::lesson_trouble;
use crate::state::use_app;

/// All examples by group. Reads the list; a card opens its example.
#[component]
pub fn GalleryView() -> impl IntoView {
    let app = use_app();
    let group = |group: Group| {
        let cards = ENTRIES.iter().filter(|it| it.group == group).map(card).collect_view();
        view! {
            <section aria-label=group.title()>
                <h3>{group.title()}</h3>
                <ul class="cards">{cards}</ul>
            </section>
        }
    };
    view! {
        <main class="sheet" aria-label=t!("gallery") data-testid="gallery-view">
            <div class="sheet-body sheet-wide">
                <header class="sheet-head">
                    <h2>{t!("gallery")}</h2>
                    <p class="sheet-about">
                        {t!("gallery-about")}
                    </p>
                </header>
                {move || app.learn.trouble.get().map(|it| view! { <p class="warn" role="alert">{lesson_trouble(it)}</p> })}
                {Group::ALL.map(group).collect_view()}
            </div>
        </main>
    }
}

fn card(entry: &'static GalleryEntry) -> impl IntoView {
    let app = use_app();
    let GalleryEntry { name, title, about, lesson, .. } = *entry;
    let (title, about) = (title(), about());
    let size = move |size: ExampleSize| {
        view! {
            <button
                type="button"
                class="quiet"
                data-testid=format!("size-{}", size.name())
                title=size.about()
                on:click=move |_| app.open_gallery_sized(name, size)
            >
                {size.title()}<span class="visually-hidden">": "{title}</span>
            </button>
        }
    };
    view! {
        <li class="card" data-testid="gallery-card" data-entry=name>
            <a class="card-open" href=format!("#/gallery/{name}")>
                <img src=format!("gallery/pictures/{name}.png") alt="" width="160" height="160" loading="lazy" />
                <span class="card-title">{title}</span>
            </a>
            <p class="muted">{about}</p>
            <div class="card-sizes" role="group" aria-label=t!("gallery-sizes", title = title)>
                {ExampleSize::ALL.map(size).collect_view()}
            </div>
            <a class="card-lesson" href=format!("#/learn/{COURSE}/{lesson}")>
                {t!("gallery-lesson")}<span class="visually-hidden">": "{title}</span>
            </a>
        </li>
    }
}
