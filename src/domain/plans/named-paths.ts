/** Which files a question is about: those it names whole, those in a folder it names, and those it names by their last part. */

const MOST = 20;

export function findNamedPaths(question: string, tracked: readonly string[]): string[] {
  const words = new Set(
    question
      .split(/[\s`'"()<>,;:!?]+/)
      .map((word) => word.replace(/^\.\//, "").replace(/[./]+$/, ""))
      .filter((word) => word.length > 2),
  );
  const whole = tracked.filter((path) => words.has(path));
  const byName = tracked.filter((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return words.has(name) || words.has(name.replace(/\.[^.]+$/, ""));
  });
  const inside = tracked.filter((path) => words.has(path.slice(0, Math.max(0, path.lastIndexOf("/")))));
  return [...new Set([...whole, ...byName, ...inside])].slice(0, MOST);
}
