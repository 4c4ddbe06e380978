/**
 * RUN-2 for doctor: what each role may do without being asked, and whether the runtime it would get can hold it to that.
 * A role that fails here is refused at sling in the same words.
 */
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { listStrangePrompts, loadModelPrompt, MODEL_PROMPTS } from "#config/model-prompts.ts";
import { roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import type { World } from "#control/world.ts";
import type { Finding } from "#domain/health/checkup.ts";
import type { Role } from "#domain/model/role.ts";
import { toolsFor } from "#domain/model/role.ts";
import { OverseerError } from "#errors.ts";

/** One finding for each role; a single one when the roles themselves cannot be read. A broken config is not said twice. */
export async function roleFindings(world: World): Promise<Finding[]> {
  try {
    const config = await world.config();
    const { byCapability, notes } = await loadRoles(
      makeSettingsReader(world.files, world.root),
      roleSources(world.root, config),
    );
    const findings: Finding[] = notes.map((detail) => ({ check: "roles", ok: true, detail }));
    findings.push(...(await promptFindings(world)));
    for (const role of byCapability.values()) {
      findings.push(await roleFinding(world, role, role.runtime ?? config.runtime));
    }
    return findings;
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return error.code.startsWith("CONFIG")
      ? []
      : [{ check: "roles", ok: false, detail: error.message, next: error.hint }];
  }
}

/** A text of the user's own that cannot be used, or that nothing uses, with which models would be asked. */
async function promptFindings(world: World): Promise<Finding[]> {
  const files = makeSettingsReader(world.files, world.root);
  const strange = await listStrangePrompts(files, world.root);
  const findings: Finding[] = strange.map((detail) => ({ check: "prompts", ok: true, detail }));
  for (const prompt of MODEL_PROMPTS) {
    try {
      await loadModelPrompt(files, world.root, prompt);
    } catch (error) {
      if (!(error instanceof OverseerError)) throw error;
      if (error.code.startsWith("CONFIG")) continue; // told by the configuration's own check
      findings.push({ check: "prompts", ok: false, detail: error.message, next: error.hint });
    }
  }
  return findings;
}

async function roleFinding(world: World, role: Role, runtime: string): Promise<Finding> {
  const check = `role ${role.capability}`;
  const mode = `${role.permissionMode} on ${runtime}`;
  try {
    const { unmet } = toolsFor(role, (await world.runtime(runtime)).capabilities.tools);
    if (unmet.length === 0) return { check, ok: true, detail: mode };
    const next = `Change .overseer/roles/${role.capability}.yaml, or choose another runtime: no agent starts like this.`;
    return { check, ok: false, detail: `${mode}: ${unmet.join("; ")}`, next };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { check, ok: false, detail: `${mode}: ${error.message}`, next: error.hint };
  }
}
