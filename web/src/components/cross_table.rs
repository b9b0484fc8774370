//! Where the decoder looked for one word of the replies: the chosen word, and the word at the same place in the other lanes.

use leptos::prelude::*;

use crate::focus::ReplyWord;
use crate::i18n::I18n;
use crate::protocol::Lane;
use crate::reading::{Column, HeadChoice, columns, cross_shares, word_cross_attention};
use crate::session::Session;

/// A lane's row.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    lane: Lane,
    word: String,
    /// One for each column; `None` where the tokens carry no attention.
    shares: Option<Vec<f32>>,
}

/// Columns and rows.
#[derive(Clone, Debug, PartialEq)]
struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// Nothing until a word is chosen.
#[component]
pub(super) fn CrossTable(i18n: I18n, session: RwSignal<Session>, chosen: RwSignal<Option<ReplyWord>>) -> impl IntoView {
    let table = Memo::new(move |_| chosen.get().and_then(|chosen| session.with(|session| table_of(session, chosen))));
    view! {
        {move || table.get().map(|Table { columns, rows }| view! {
            <div class="cross" data-testid="cross-attention" tabindex="0" role="region" aria-label=move || i18n.text("cross.title")>
                <header>
                    <h3>{move || i18n.text("cross.title")}</h3>
                    <button class="quiet" data-testid="cross-close" on:click=move |_| chosen.set(None)>{move || i18n.text("error.close")}</button>
                </header>
                <table>
                    <thead><tr><td></td>{columns.iter().map(|column| view! { <th scope="col">{i18n.now().column_head(column)}</th> }).collect_view()}</tr></thead>
                    <tbody>{rows.into_iter().map(|row| row_view(i18n, row)).collect_view()}</tbody>
                </table>
            </div>
        })}
    }
}

fn row_view(i18n: I18n, row: Row) -> impl IntoView {
    let strongest = row.shares.iter().flatten().copied().fold(f32::EPSILON, f32::max);
    view! {
        <tr>
            <th scope="row">{i18n.text(&format!("lane.{}", row.lane.name()))} ": " <q lang="en">{row.word}</q></th>
            {row.shares.map(|shares| shares.into_iter().map(|share| view! {
                <td style=format!("--share:{:.3}", share / strongest)>{i18n.number(share * 100.0, 0)}</td>
            }).collect_view())}
        </tr>
    }
}

fn table_of(session: &Session, chosen: ReplyWord) -> Option<Table> {
    let turn = session.turn(chosen.turn)?;
    let columns = columns(turn.analysis.as_deref()?, HeadChoice::Mean, true);
    let rows: Vec<Row> = turn
        .replies
        .iter()
        .filter_map(|reply| {
            let word = reply.text.split_whitespace().nth(chosen.word)?.to_string();
            let shares = word_cross_attention(&reply.tokens, chosen.word).map(|weights| cross_shares(&columns, &weights));
            Some(Row { lane: reply.lane, word, shares })
        })
        .collect();
    (!rows.is_empty()).then_some(Table { columns, rows })
}
