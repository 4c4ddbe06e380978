/** Keys while something is asked of the person: they write a line or say yes. Esc leaves it, whatever it was. Pure. */
import { tellContinuation } from "./continuation.ts";
import type { LiveKey } from "./key.ts";
import { editLine, readEdit } from "./line-edit.ts";
import { type LiveIntent, type LiveState, type Prompt, tellNotice } from "./state.ts";

export interface Pressed {
  readonly state: LiveState;
  readonly intent: LiveIntent | null;
}

export function pressInPrompt(state: LiveState, prompt: Prompt, key: LiveKey): Pressed {
  const closed = { ...state, prompt: null, notice: null };
  if (key.name === "esc") return { state: prompt.kind === "filter" ? { ...closed, filter: "" } : closed, intent: null };
  if (prompt.kind === "stop") {
    if (key.text !== "y") return { state: tellNotice(closed, `${prompt.agent} was not stopped.`), intent: null };
    const { agent, attempt } = prompt;
    return begin(closed, `stopping ${agent}#${attempt} …`, null, (id) => ({ kind: "stop", id, agent, attempt }));
  }
  if (prompt.kind === "continue") {
    const { continuation } = prompt;
    if (key.text !== "y") return { state: tellNotice(closed, `${continuation.what} was left as it is.`), intent: null };
    return begin(closed, tellContinuation(continuation).doing, null, (id) => ({ kind: "continue", id, continuation }));
  }
  if (key.name === "enter") return send(state, prompt);
  // What was refused stays in sight while it is put right.
  const edited = { ...prompt, edit: editLine(prompt.edit, key) };
  const filter = prompt.kind === "filter" ? readEdit(edited.edit) : state.filter;
  return { state: { ...state, prompt: edited, filter }, intent: null };
}

function send(state: LiveState, prompt: Exclude<Prompt, { readonly kind: "stop" | "continue" }>): Pressed {
  const written = readEdit(prompt.edit).trim();
  const closed = { ...state, prompt: null, notice: null };
  if (prompt.kind === "filter" || (written === "" && prompt.kind !== "reject")) return { state: closed, intent: null };
  switch (prompt.kind) {
    case "answer":
      return begin(closed, `answering ${prompt.question} …`, prompt, (id) => ({
        ...{ kind: "answer", id, question: prompt.question, words: written },
      }));
    case "write":
      return begin(closed, `writing to ${prompt.agent} …`, prompt, (id) => ({
        ...{ kind: "write", id, agent: prompt.agent, text: written },
      }));
    case "reject": {
      const { node, commit } = prompt;
      if (written === "") {
        const why = "It is sent back with a reason, which its author reads; Esc leaves it as it is.";
        return { state: tellNotice(state, why, true), intent: null };
      }
      // What is sent back is looked at again when there is something new.
      const pages = state.pages.filter((page) => page.kind !== "review" || page.about.node !== node);
      return begin({ ...closed, pages }, `sending ${node} back …`, prompt, (id) => ({
        ...{ kind: "reject", id, node, commit, reason: written },
      }));
    }
  }
}

function begin(
  before: LiveState,
  text: string,
  prompt: Prompt | null,
  makeIntent: (id: number) => LiveIntent,
): Pressed {
  const { nextId: id } = before;
  const state = { ...before, notice: null };
  const pending = { id, text, ...(prompt ? { prompt } : {}) };
  return {
    state: { ...state, nextId: id + 1, pending: [...state.pending, pending] },
    intent: makeIntent(id),
  };
}
