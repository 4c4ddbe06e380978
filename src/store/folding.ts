/**
 * Folding in progress: entities that events have touched, held until they are written together. An entity's version
 * counts the events that changed it, so a rebuilt table equals the one that grew.
 */
import type { EventOf } from "#domain/model/event.ts";
import type { Entity, EntityKind, EntityRef } from "#domain/model/fold.ts";
import { apply, illegalMove, listTouched } from "#domain/model/fold.ts";
import { OverseerError } from "#errors.ts";

export interface Versioned {
  readonly entity: Entity | undefined;
  readonly version: number;
}

export interface Folded extends Versioned {
  readonly kind: EntityKind;
  readonly id: string;
}

type Held = { -readonly [K in keyof Folded]: Folded[K] };

export class Folding {
  private readonly held = new Map<EntityKind, Map<string, Held>>();

  constructor(private readonly load: (ref: EntityRef) => Versioned | undefined) {}

  /** Folds one event. Throws when it would make a move that its table forbids: then the rule that wrote it is wrong. */
  take(event: EventOf): void {
    for (const ref of listTouched(event)) {
      const { kind, id } = ref;
      let ofKind = this.held.get(kind);
      if (!ofKind) {
        ofKind = new Map();
        this.held.set(kind, ofKind);
      }
      const held = ofKind.get(id);
      const before = held ?? this.load(ref);
      const entity = apply(kind, before?.entity as never, event);
      if (entity === undefined || entity === before?.entity) continue;
      const wrong = illegalMove(kind, before?.entity, entity);
      if (wrong) throw illegal(event, ref, wrong);
      if (held) {
        held.entity = entity;
        held.version += 1;
      } else ofKind.set(id, { kind, id, entity, version: (before?.version ?? 0) + 1 });
    }
  }

  listChangedOf(kind: EntityKind): Iterable<Folded> {
    return this.held.get(kind)?.values() ?? [];
  }

  *listChanged(): Iterable<Folded> {
    for (const ofKind of this.held.values()) yield* ofKind.values();
  }

  get size(): number {
    let size = 0;
    for (const ofKind of this.held.values()) size += ofKind.size;
    return size;
  }
}

function illegal(event: EventOf, ref: EntityRef, wrong: string): OverseerError {
  return new OverseerError(
    "internal",
    "ILLEGAL_MOVE",
    `Event ${event.type} was refused: ${wrong} (${ref.id}).`,
    "This is a fault of Overseer; nothing was written. Please report it with the output of 'overseer why'.",
  );
}
