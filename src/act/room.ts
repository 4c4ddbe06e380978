/** What the machine has left beside what the configuration wants to stay free. */
import type { MachineRoom } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import type { Room } from "#domain/agents/admission.ts";

export function measureRoom(machine: MachineRoom, { capacity }: Pick<Config, "capacity">): Room {
  return {
    load: machine.load,
    maxLoad: capacity.loadFactor * machine.cores,
    memoryBytes: machine.freeMemoryBytes,
    minMemoryBytes: Math.max(capacity.minMemory, (machine.totalMemoryBytes * capacity.minMemoryPercent) / 100),
    diskBytes: machine.freeDiskBytes,
    minDiskBytes: Math.max(capacity.minDisk, (machine.totalDiskBytes * capacity.minDiskPercent) / 100),
  };
}
