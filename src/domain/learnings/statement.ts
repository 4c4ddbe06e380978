/**
 * What an agent says it found out, sentence by sentence. A sentence counts when it names something that others can use (a
 * command, a flag, a variable, a file) and says how that is: what it needs, what fails without it, where it comes from.
 * Plans, progress, guesses, questions and an agent's own mistakes do not, however loudly they call themselves a finding:
 * words such as "turns out" and "important" say nothing and are not asked. Languages other than English are heard by the
 * few words that carry the same.
 */
import { cleanText } from "#domain/core/quote.ts";

export interface Statement {
  readonly text: string;
  /** Which way it says it: two that name the same and differ here are not the same. */
  readonly stance: string;
  /** What it names, in lower case. */
  readonly anchors: readonly string[];
  readonly score: number;
}

/** What is known of the moment it was said in. */
export interface Saying {
  readonly via: "reply" | "report";
  /** The last command has failed and nothing has worked since: what is said is a guess at it. */
  readonly inTrouble: boolean;
  /** The agent was heard to run or meet this; lower case. */
  hasMet(anchor: string): boolean;
}

const SHORTEST = 24;
const LONGEST = 420;

/** Sentences of one paragraph or point belong together; each of those makes at most one statement. */
export function findStatements(text: string, saying: Saying): Statement[] {
  const found: Statement[] = [];
  let section = "";
  for (const line of cleanText(text).replace(BLOCKS, "\n").split("\n")) {
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    const statement = combine(sentencesIn(line).map((sentence) => judge(sentence, section, saying)));
    if (statement) found.push(statement);
  }
  return found;
}

type Judged = Omit<Statement, "stance"> & { readonly tells: boolean };

/** The best of them, with its neighbours that name something, as far as there is room. */
function combine(judged: readonly (Judged | undefined)[]): Statement | undefined {
  const best = judged.reduce<Judged | undefined>(
    (one, other) => (other?.tells && other.score > (one?.score ?? 0) ? other : one),
    undefined,
  );
  if (!best) return undefined;
  const at = judged.indexOf(best);
  const kept = new Set([at]);
  let length = best.text.length;
  for (const next of [at + 1, at - 1, at + 2, at - 2]) {
    const other = judged[next];
    if (!other || length + other.text.length + 1 > LONGEST) continue;
    kept.add(next);
    length += other.text.length + 1;
  }
  const parts = judged.flatMap((one, index) => (one && kept.has(index) ? [one] : []));
  const more = parts.filter((one) => one !== best && one.tells).length;
  return {
    // Once more: what was taken out of it may have held parts of a tag apart.
    text: cleanText(parts.map((one) => one.text).join(" ")),
    anchors: [...new Set(parts.flatMap((one) => one.anchors))].slice(0, 12),
    stance: stanceOf(best.text),
    score: Math.min(1, Number((best.score + more * 0.05).toFixed(2))),
  };
}

const STANCES =
  /\b(?:must|needs?|have to|has to|requires?|only|unless|until|without|never|not|no|cannot|can't|don't|doesn't|isn't|aren't|won't|instead|whenever|otherwise|fails?)\b/gi;

/** The words that turn what is said about a thing into its opposite. */
function stanceOf(sentence: string): string {
  return [...new Set([...sentence.matchAll(STANCES)].map(([word]) => word.toLowerCase()))].toSorted().join(" ");
}

const BLOCKS = /```[\s\S]*?(?:```|$)/g;
const HEADING = /^\s*(?:#{1,6}\s*|\*\*)([^*#\n]{2,60}?):?(?:\*\*)?:?\s*$/;

/** A dot ends a sentence only before white space, so that `a.ts` and `1.2.3` stay whole. */
function sentencesIn(line: string): string[] {
  const plain = line.replace(/^\s*(?:[-*•+]|\d{1,2}[.)])\s+/, "").replace(/\*\*/g, "");
  return plain
    .split(/(?<=[.!?…])\s+(?=[\p{Lu}`"'(¿])|(?<=[。！？])/u)
    .map((one) => one.trim())
    .filter((one) => countLetters(one) >= SHORTEST && one.length <= LONGEST);
}

/** One sign of Chinese or Japanese says as much as two or three letters. */
function countLetters(sentence: string): number {
  return sentence.length + 2 * (sentence.match(/[\u3040-\u9fff]/g)?.length ?? 0);
}

function judge(sentence: string, section: string, saying: Saying): Judged | undefined {
  if (NEVER.some((pattern) => pattern.test(sentence))) return undefined;
  const anchors = anchorsIn(sentence);
  const strong = STRONG.filter((pattern) => pattern.test(sentence)).length;
  const weak = WEAK.filter((pattern) => pattern.test(sentence)).length;
  const tells = anchors.length > 0 && (strong > 0 || weak > 1);
  const known = anchors.some((anchor) => saying.hasMet(anchor));
  const score =
    0.26 +
    Math.min(strong, 3) * 0.16 +
    Math.min(weak, 2) * 0.06 +
    (known ? 0.1 : 0) +
    (NOTES.test(section) || NOTES_INLINE.test(sentence) ? 0.12 : 0) +
    (saying.via === "report" ? 0.05 : 0) -
    (saying.inTrouble ? 0.2 : 0) -
    (isPlainDone(sentence) ? 0.22 : 0) -
    (FIRST_PERSON.test(sentence) ? 0.1 : 0) -
    (PAST.test(sentence) ? 0.12 : 0);
  return { text: sentence, anchors, tells, score: Math.max(0, Math.min(1, Number(score.toFixed(2)))) };
}

const NOTES =
  /note|gotcha|heads?[- ]?up|for (?:the )?(?:next|others|whoever|anyone)|setup|how (?:to|tested)|caveat|beware|pitfall|things? to know|worth knowing|environment|hinweis|wichtig|notas?|remarque|注意|メモ|備考|補足/i;
const NOTES_INLINE =
  /^(?:nb|n\.b\.|heads?[- ]?up|fyi|build note|note for|gotcha|for (?:the )?(?:next|others|anyone)|hinweis|nota|achtung)\b/i;

/** What a thing needs, and what happens without it. */
const STRONG: readonly RegExp[] = [
  /\b(?:must|have to|has to|had to|needs? (?:to|a|an|the|its|`)|needs\b|required?|requires|mandatory|necessary)\b/i,
  /\b(?:only (?:works?|with|when|if|after|runs?|visible|through|via)|works? only|instead of|rather than|never|don't|do not|cannot|can't|won't)\b|, not (?:`|with|by|in|from|the|-)/i,
  /\b(?:fails?|breaks?|rejects?|refuses?|refused|blocks?|times? out|hangs?|crashes|unreliable|flaky|goes past|is lost|overwritten|overridden|overwrites?|is ignored|ignores?|stale|outdated|out of date|replays?|rewrites|wiped|blow up)\b/i,
  /\b(?:otherwise|unless|without (?:it|that|this|which|the|`|network|\w+ing)|or else|until|before (?:running|each|every|the|build|you|\w+ing|tests?)|after (?:each|every|any|changing|editing)|each time|every (?:time|build|change|new|variable)|whenever)\b/i,
  /\b(?:doesn't|does not|isn't|is not|aren't|are not) (?:work|see|run|load|include|open|notice|pick|visible|loaded|picked|enough|supported|read|among|run|parsed|in git|regenerated|updated|used|shared)\b|\bthere is no\b|\bcontrary to\b|\bhas no effect\b|\bdoes the same\b/i,
  // German, Spanish, French, Portuguese, Japanese: what is needed, and what happens without it.
  /\b(?:muss|müssen|braucht|benötigt|nur (?:mit|wenn|über|in)|statt|hay que|tienen? que|hacen? falta|exige|necesitan?|solo (?:con|funciona|si)|en vez de|il faut|doit|doivent|nécessite|uniquement|au lieu de|precisa|tem que|em vez de)\b|必要|ではなく|必ず|しか|てはいけない/i,
  /\b(?:sonst|ohne|schlägt fehl|bricht|wird (?:generiert|erzeugt|überschrieben)|si no|fallan?|sin (?:el|la|eso)|sinon|échoue|sans|senão|falha)\b|しないと|なければ|失敗|ないと/i,
];

/** How a thing is, which counts only beside another. */
const WEAK: readonly RegExp[] = [
  /\b(?:comes? (?:out of|from)|made by|written by|(?:re)?generated|autogenerated|regenerates?|codegen|lives? in|kept (?:in|with)|pinned|vendored|taken from|set (?:by|in)|are in|defined in|depends? on)\b/i,
  /\b(?:by default|in this (?:repo|repository|project|workspace|monorepo)|on this (?:box|machine)|here|in ci|ci|hook|pre-commit|by hand|per process|on main|fresh (?:checkout|clone)|locally|sandbox)\b/i,
  /\b(?:use|pass|run|set|export|go through|prefer|works? with|makes? (?:it|them|the|everything)|put(?:s)? (?:it|them) right)\b/i,
  /(?:→|=>)/,
  /\b(?:wird|generiert|se genera|generado|généré|gerado|usar|nutzen|utiliser)\b|生成|使え|使う/i,
];

/** What is no finding, whatever else it says. */
const NEVER: readonly RegExp[] = [
  /\?(?:["'”)\]]*\s*$)|？/,
  /\b(?:maybe|might|perhaps|probably|possibly|presumably|i think|i guess|i suspect|i believe|i assume|seems?|apparently|could be|not sure|unverified|i'd guess|looks like|likely|no idea|unclear|to be checked|wohl|vielleicht|vermutlich|quizás?|tal vez|peut-être|talvez)\b|かもしれ|たぶん|おそらく/i,
  /\b(?:i'?ll|i will|i'm going to|let me|let's|i'd|next i|now i|going to|i need to|i want to|i should|i plan|i can (?:now|then|use)|we'll|todo|still to do|ich werde|jetzt|voy a|ahora|je vais|vou)\b/i,
  /\b(?:my (?:own )?(?:bug|typo|mistake|test|fault|code|change|check|import|fixture|mock|assertion|edit|regex|query|doing|error|jsx|bad|jq|branch|patch)|i forgot|i left out|i had (?:removed|broken|forgotten|written)|oops|sorry|apolog|typo|i misread|i mistyped|i broke|mein fehler|mea culpa|una errata|errata|c'est mon)\b/i,
  /\b(?:ignore (?:all|previous|prior)|as an ai|ai assistants?|assistants?\b|system prompt|injected|instructions? (?:in|from|for))\b/i,
  /\b(?:i was wrong|was wrong|were wrong|scratch that|not (?:it|that) either|red herrings?|disregard)\b/i,
  /^(?:key insight|excellent|great|perfect|good|nice|awesome)\b/i,
];

/** What was so and is not any more is a story about the task. */
const PAST = /\b(?:was|were|did|didn't|hadn't|wasn't|weren't|had been|never \w+ed|used to)\b/i;
const FIRST_PERSON = /\b(?:i|we|i've|we've|ich|wir|yo|je)\b/i;

const DONE =
  /^(?:added?|adds|fixed|fixes|updated?|implement(?:ed|s)|removed?|renamed|refactored|created?|wired|moved|changed|switched|extracted|replaced|introduced|extended|verified|checked|tested|ran|all\b|done|new\b|now\b|tests?\b|\d+ tests?)/i;
const NOW_DOES =
  /\b(?:now (?:returns?|shows?|reports?|uses?|works?|has|have|takes?|supports?|accepts?|honou?rs?)|is (?:now|done|implemented|added|fixed)|are (?:now|done|added)|tests? pass|all green|passes now)\b/i;

/** What was done to the task, as every report tells it. */
function isPlainDone(sentence: string): boolean {
  return DONE.test(sentence) || NOW_DOES.test(sentence);
}

const CODE = /`([^`\n]{2,120})`/g;
const BARE =
  /(?<![\w/])(--[a-z][\w-]{2,}|[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:=\S+)?|\/?(?:[\w.@-]+\/){1,6}[\w.@*-]+|(?!README|TODO|HTTP|JSON|ERROR|FAIL|PASS|NOTE|TRUE|FALSE|NULL)[A-Z]{5,}(?![a-z])|[\w-]+\.(?:ts|tsx|js|mjs|json|ya?ml|toml|lock|py|rs|go|sql|proto|sh|xml|gradle|kts|rb|php|tf|env|cfg|ini|conf|md|c|cc|cpp|h|java|kt|swift|sum)\b|(?:npm|pnpm|yarn|bun|npx|make|cargo|go|git|docker|pytest|poetry|uv|pip|bundle|mvn|gradle|terraform|helm|kubectl|bazel|just|task|prisma|alembic|rails|rake|php|composer|dotnet|mix|sbt|buf|nx|turbo) (?:[a-z][\w:.-]{1,30})|localhost:\d+|:\d{4,5}\b)/g;

/** What it names that others could look for. */
export function anchorsIn(sentence: string): string[] {
  const anchors = new Set<string>();
  for (const [, code = ""] of sentence.matchAll(CODE)) anchors.add(code.trim().toLowerCase());
  for (const [, bare = ""] of sentence.replace(CODE, " ").matchAll(BARE)) anchors.add(bare.toLowerCase());
  return [...anchors].slice(0, 12);
}
