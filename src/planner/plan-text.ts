/** A plan as people like to read and change it: YAML. */

/** What a model answered is JSON, and becomes YAML; what a person wrote stays as it is, comments included. */
export function renderPlanText(raw: string): string {
  if (!raw.trimStart().startsWith("{")) return raw;
  return `${Bun.YAML.stringify(JSON.parse(raw), null, 2)}\n`;
}
