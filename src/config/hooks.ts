/**
 * `.overseer/hooks.yaml`: the user's own hooks, given to every agent beside ours (HOOK-4). Events are keys, each with a
 * list of commands; the order of the file is kept. What stands there can add and never remove: Overseer's hooks are
 * not entries of this file. A missing or empty file means none.
 */
import { z } from "zod";
import { HOOK_MOMENTS, type HookMoment, type UserHook } from "#domain/permit/hook-moments.ts";
import type { ReadDir } from "./read-dir.ts";
import { checkYaml } from "./yaml-file.ts";

const hookSchema = z.strictObject({
  matcher: z.string().min(1, "must not be empty; leave it out to mean every tool").max(500).optional(),
  command: z.string().min(1, "must not be empty").max(10_000),
  timeout: z.number().int().min(1).max(600).optional(),
});

const events = Object.fromEntries(HOOK_MOMENTS.map((event) => [event, z.array(hookSchema).optional()])) as Record<
  HookMoment,
  z.ZodOptional<z.ZodArray<typeof hookSchema>>
>;
const fileSchema = z.strictObject(events);

const FILE = ".overseer/hooks.yaml";

/** Throws a config error that names the line. */
export async function loadUserHooks(files: Pick<ReadDir, "read">, stateDir: string): Promise<readonly UserHook[]> {
  const text = await files.read(`${stateDir}/hooks.yaml`);
  return text === undefined ? [] : readUserHooks(text);
}

export function readUserHooks(text: string): readonly UserHook[] {
  // A file of comments only is read as null.
  const file = checkYaml(FILE, text, fileSchema, (values) => values ?? {});
  return HOOK_MOMENTS.flatMap((event) =>
    (file[event] ?? []).map((hook) => ({
      event,
      matcher: hook.matcher ?? null,
      command: hook.command,
      timeoutSeconds: hook.timeout ?? null,
    })),
  );
}
