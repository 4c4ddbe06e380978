/**
 * Has the user's checkout changed while the agent had its turn (SERENA-2, CLEAN-1)? What an agent's shell really did
 * cannot be foreseen, so this looks at the result: HEAD, index and uncommitted files before and after. It costs a few
 * git processes per turn and nothing between turns. It does not say who did it, and it never repairs anything.
 */
import type { EventData } from "#domain/model/event.ts";
import type { GitTools } from "#git/git.ts";
import type { CheckoutFingerprint } from "#git/repository.ts";
import { checkoutFingerprint } from "#git/repository.ts";

export class CheckoutWatch {
  private before: CheckoutFingerprint | undefined;

  constructor(
    private readonly tools: GitTools,
    private readonly checkout: string,
  ) {}

  /** Call before a turn is given. A turn that is already being watched keeps its beginning. Rejects when git does. */
  async turnBegins(): Promise<void> {
    this.before ??= await checkoutFingerprint(this.tools, this.checkout);
  }

  /** What changed since the turn began; undefined when nothing did, or no turn was watched. Rejects when git does. */
  async turnEnded(): Promise<EventData["checkout.changed"] | undefined> {
    const { before } = this;
    if (!before) return undefined;
    this.before = undefined;
    const after = await checkoutFingerprint(this.tools, this.checkout);
    const what: ("head" | "index" | "files")[] = [];
    if (before.head !== after.head) what.push("head");
    if (before.index !== after.index) what.push("index");
    if (before.status !== after.status) what.push("files");
    return what.length === 0 ? undefined : { what, before: before.head, after: after.head };
  }
}
