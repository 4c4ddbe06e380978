/**
 * How an agent's command and its runner speak with each other: one signed request, and an answer in frames as they come.
 * Both sides may be of different versions, so what is here only grows. Pure, and small: the client loads nothing else.
 */

/** The route at the attempt's socket. */
export const VERB_ROUTE = "verb";

/** More than this is not taken in one request; it is the most that a body or a plan may reasonably have. */
export const MOST_VERB_BYTES = 1024 * 1024;

/** The word by which a program that the runner starts knows that its job is on standard input. */
export const JOB_WORD = "__job";

export type VerbInputs = Readonly<Record<string, string>>;

export interface VerbRequest {
  readonly v: 1;
  /** Never the same twice: a request that was listened to cannot be asked again. */
  readonly salt: string;
  /** When the client will have given up; later it must not be begun any more. */
  readonly until: number;
  readonly attempt: number;
  /** OVERSEER_AGENT of the caller, where it has one. */
  readonly agent?: string;
  readonly words: readonly string[];
  readonly cwd: string;
  /** What only the caller can read, by the path it has there: standard input and the like. */
  readonly inputs?: VerbInputs;
  readonly colour: boolean;
  readonly width: number;
  /** Is it read on a terminal, where lines are cut to its width? */
  readonly interactive?: boolean;
  /** OVERSEER_ROOT of the caller, empty when it has none: whoever took it off means the repository it stands in. */
  readonly root?: string;
  readonly debug: boolean;
}

/** What the program that the runner starts reads from standard input. */
export interface VerbJob {
  readonly v: 1;
  /** By which the runner vouches for it. */
  readonly key: string;
  readonly words: readonly string[];
  readonly inputs?: VerbInputs;
  readonly interactive?: boolean;
  readonly root?: string;
}

/** Why a request was not taken, as the command line would say it. */
export interface VerbRefusal {
  readonly kind: "usage" | "conflict" | "environment" | "internal";
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * `taken`: it was read and will be done. `alive`: it is not finished yet. `exit` comes last, with the exit code; an answer
 * that ends without it was cut off.
 */
export type FrameKind = "taken" | "alive" | "out" | "err" | "exit";
const KINDS: readonly FrameKind[] = ["taken", "alive", "out", "err", "exit"];

/** One byte for the kind, four for the length, then so many bytes. */
const HEAD = 5;

export interface VerbFrame {
  readonly kind: FrameKind;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array();

export function encodeFrame(kind: FrameKind, bytes: Uint8Array = NOTHING): Uint8Array {
  const frame = new Uint8Array(HEAD + bytes.length);
  frame[0] = KINDS.indexOf(kind);
  new DataView(frame.buffer).setUint32(1, bytes.length);
  frame.set(bytes, HEAD);
  return frame;
}

/** Takes bytes as they arrive, gives the frames that are whole. A kind that is not known is passed over. */
export class FrameReader {
  private left: Uint8Array = NOTHING;

  take(piece: Uint8Array): VerbFrame[] {
    const bytes = this.left.length === 0 ? piece : joinBytes(this.left, piece);
    const frames: VerbFrame[] = [];
    let at = 0;
    while (bytes.length - at >= HEAD) {
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(1);
      if (bytes.length - at - HEAD < length) break;
      const kind = KINDS[bytes[at] ?? KINDS.length];
      if (kind) frames.push({ kind, bytes: bytes.slice(at + HEAD, at + HEAD + length) });
      at += HEAD + length;
    }
    this.left = bytes.slice(at);
    return frames;
  }
}

function joinBytes(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}

/** A request as it is read; undefined when it is not one. */
export function readRequest(text: string): VerbRequest | undefined {
  const value = parseObject(text) as Partial<VerbRequest> | undefined;
  const whole =
    value?.v === 1 &&
    typeof value.salt === "string" &&
    typeof value.until === "number" &&
    typeof value.attempt === "number" &&
    isWords(value.words) &&
    typeof value.cwd === "string" &&
    value.cwd.startsWith("/") &&
    (value.root === undefined || typeof value.root === "string") &&
    isInputs(value.inputs);
  return whole ? (value as VerbRequest) : undefined;
}

export function readJob(text: string): VerbJob | undefined {
  const value = parseObject(text) as Partial<VerbJob> | undefined;
  const whole = value?.v === 1 && typeof value.key === "string" && isWords(value.words);
  return whole ? (value as VerbJob) : undefined;
}

export function readRefusal(text: string): VerbRefusal | undefined {
  const value = parseObject(text) as Partial<VerbRefusal> | undefined;
  const said = [value?.kind, value?.code, value?.message, value?.hint];
  return said.every((one) => typeof one === "string") ? (value as VerbRefusal) : undefined;
}

function isInputs(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === "object" && value !== null && isWords(Object.values(value));
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
