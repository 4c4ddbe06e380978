/**
 * A model for one rehearsal, in the wire format of Anthropic's Messages: it has the CLI run `true` and then ends the turn.
 * With it `doctor` finds out whether the real CLI asks the permit in this project, and spends nothing.
 */

/** The call that the rehearsal makes; the permit leaves its mark under this name. */
export const REHEARSED_CALL = "toolu_rehearsal";

export interface RehearsalAnswer {
  /** Server-sent events. */
  readonly text: string;
  /** The request says that the call was made, and was not refused. */
  readonly ran: boolean;
}

/** Never throws: what is not understood is answered with a word. */
export function rehearsalAnswer(request: string): RehearsalAnswer {
  const hasTools = /"tools"\s*:\s*\[\s*\{/.test(request);
  const result = resultIn(request);
  const asks = hasTools && result === undefined;
  const block = asks ? { type: "tool_use", id: REHEARSED_CALL, name: "Bash", input: {} } : { type: "text", text: "" };
  const delta = asks
    ? { type: "input_json_delta", partial_json: JSON.stringify({ command: "true", description: "Rehearse" }) }
    : { type: "text_delta", text: "Done." };
  const usage = { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const message = {
    ...{ id: "msg_rehearsal", type: "message", role: "assistant", model: "rehearsal", content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: asks ? "tool_use" : "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return { text, ran: result === "ran" };
}

function resultIn(request: string): "ran" | "refused" | undefined {
  try {
    const { messages = [] } = JSON.parse(request) as { messages?: { content?: unknown }[] };
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as unknown[]) : []));
    for (const block of blocks as { type?: unknown; tool_use_id?: unknown; is_error?: unknown }[]) {
      if (block.type !== "tool_result" || block.tool_use_id !== REHEARSED_CALL) continue;
      return block.is_error === true ? "refused" : "ran";
    }
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
