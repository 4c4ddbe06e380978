/** The editor of whoever sits at the terminal. */
import type { OpenEditor } from "#control/edit-settings.ts";
import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { inert } from "./text.ts";

/** Opens a file in VISUAL or EDITOR. `again`: the command that is run, for the next step. Throws EDITOR_MISSING at once. */
export function openEditorOf({ env }: World, again: string): OpenEditor {
  const [program, ...words] = (env.VISUAL || env.EDITOR || "").split(/\s+/).filter((word) => word !== "");
  if (program === undefined || Bun.which(program, { PATH: env.PATH ?? "" }) === null) {
    const message = program === undefined ? "No editor is set." : `The editor ${inert(program)} is not there.`;
    throw new OverseerError("environment", "EDITOR_MISSING", message, `For example: EDITOR=nano ${again}`);
  }
  return async (file) => {
    const child = Bun.spawn([program, ...words, file], { stdio: ["inherit", "inherit", "inherit"], env });
    return child.exited;
  };
}
