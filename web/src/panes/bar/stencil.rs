//! Which stencil of the files is compiled.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::use_app;

/// A list, where there are several. Follows the caret; what is chosen moves it.
#[component]
pub fn StencilChoice() -> impl IntoView {
    let app = use_app();
    let places = Memo::new(move |_| app.compilation.defaults.with(|it| it.stencils.clone()));
    let picked = Memo::new(move |_| app.picked());
    let value = move || picked.get().map_or_else(String::new, |it| it.to_string());
    // Of one file the names alone.
    let is_of_one =
        move || places.with(|it| it.iter().all(|place| it.first().is_some_and(|one| one.file == place.file)));
    let choose = move |value: String| {
        let place =
            value.parse::<usize>().ok().and_then(|at| places.with_untracked(|it| it.get(at).cloned()));
        if let Some(place) = place {
            app.pick_stencil(&place);
        }
    };
    view! {
        <Show when=move || places.with(|it| it.len() > 1)>
            <label class="control control-stencil">
                <span class="control-name">{t!("bar-stencil")}</span>
                <select
                    data-testid="stencil-select"
                    title=t!("bar-stencil-about")
                    prop:value=value
                    on:change:target=move |event| choose(event.target().value())
                >
                    {move || {
                        let is_of_one = is_of_one();
                        places
                            .get()
                            .into_iter()
                            .enumerate()
                            .map(|(at, it)| {
                                let name = it.name.clone();
                                let shown = if is_of_one { name.clone() } else { format!("{} ({})", it.name, it.file) };
                                let is_picked = move || picked.get() == Some(at);
                                view! { <option value=at.to_string() data-name=name selected=is_picked>{shown}</option> }
                            })
                            .collect_view()
                    }}
                    // Before the compiler knows which, or where it knows none of that name.
                    {move || picked.get().is_none().then(|| view! { <option value="" disabled selected>{t!("choose-one")}</option> })}
                </select>
            </label>
        </Show>
    }
}
