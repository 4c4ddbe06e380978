/**
 * Keys and groups that nothing reads yet, each with the feature it is kept for. They say so in `config explain`, in the
 * example file and, where a user has set one, at load. This list only shrinks: whoever builds a feature takes its lines
 * away, and test/config-keys.test.ts then asks what each key changes.
 */
const NOT_BUILT: Readonly<Record<string, string>> = {
  beads: "the beads tracker",
};

/** What a key or a group is kept for while nothing reads it; undefined for one that is read. */
export function featureNotBuilt(key: string): string | undefined {
  for (let name = key; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const feature = NOT_BUILT[name];
    if (feature !== undefined) return feature;
  }
  return undefined;
}

/** What such a key says of itself. */
export function notBuiltSentence(feature: string): string {
  return `Not built yet: it belongs to ${feature}, and setting it changes nothing.`;
}

/** One sentence for each feature of which a configuration sets keys that nothing reads yet. */
export function notBuiltNotices(keysSet: readonly string[]): string[] {
  const byFeature = Map.groupBy(keysSet, (key) => featureNotBuilt(key));
  return [...byFeature].flatMap(([feature, keys]) => {
    if (feature === undefined) return [];
    const change = keys.length === 1 ? "changes" : "change";
    return [`${keys.join(", ")} ${change} nothing: ${feature} is not built yet.`];
  });
}
