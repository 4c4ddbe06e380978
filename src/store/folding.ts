/**
 * Folding in progress: entities that events have touched, held until they are written together. An entity's version
 * counts the events that changed it, so a rebuilt table equals the one that grew.
 */
import type { EventOf } from "#domain/event.ts";
import type { Entity, EntityKind, EntityRef } from "#domain/fold.ts";
import { apply, illegalMove, touchedBy } from "#domain/fold.ts";
import { OverseerError } from "#errors.ts";

export interface Versioned {
  readonly entity: Entity | undefined;
  readonly version: number;
}

export interface Folded extends Versioned {
  readonly kind: EntityKind;
  readonly id: string;
}

export class Folding {
  private readonly held = new Map<string, Folded>();

  constructor(private readonly load: (ref: EntityRef) => Versioned | undefined) {}

  /** Folds one event. Throws when it would make a move that its table forbids: then the rule that wrote it is wrong. */
  take(event: EventOf): void {
    for (const ref of touchedBy(event)) {
      const key = `${ref.kind} ${ref.id}`;
      const before = this.held.get(key) ?? this.load(ref);
      const entity = apply(ref.kind, before?.entity as never, event);
      if (entity === undefined || entity === before?.entity) continue;
      const wrong = illegalMove(ref.kind, before?.entity, entity);
      if (wrong) {
        throw new OverseerError(
          "internal",
          "ILLEGAL_MOVE",
          `Event ${event.type} was refused: ${wrong} (${ref.id}).`,
          "This is a fault of Overseer; nothing was written. Please report it with the output of 'overseer why'.",
        );
      }
      this.held.set(key, { kind: ref.kind, id: ref.id, entity, version: (before?.version ?? 0) + 1 });
    }
  }

  changed(): Iterable<Folded> {
    return this.held.values();
  }

  get size(): number {
    return this.held.size;
  }
}
