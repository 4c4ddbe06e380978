import { expect, test } from "bun:test";
import { areHoldersSeen } from "./lock-holders.ts";

const MOUNTS = [
  "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
  "30 27 0:27 / /tmp rw - tmpfs tmpfs rw",
  "31 27 254:1 /home/me/code /work rw shared:1 - ext4 /dev/vdb rw",
  "32 27 0:40 / /net/home rw - nfs4 server:/home rw",
  "33 27 0:41 / /mnt/a\\040b rw - fuse.sshfs me@there:/ rw",
  "34 27 0:42 / /mac rw - virtiofs mac rw",
].join("\n");

test.each([
  ["on a disk of this machine", "/home/me/repo/.git/index.lock", true, true],
  ["handed into a container", "/work/repo/.git/index.lock", false, false],
  ["put elsewhere on this machine, all of which is seen", "/work/repo/.git/index.lock", true, true],
  ["a container's own", "/tmp/repo/.git/index.lock", false, true],
  ["another machine's too", "/net/home/repo/.git/index.lock", true, false],
  ["another machine's too, with a space in its place", "/mnt/a b/repo/.git/index.lock", true, false],
  ["the machine's around a virtual one", "/mac/repo/.git/index.lock", true, false],
  ["beside such a place", "/macro/repo/.git/index.lock", true, true],
] as const)("FAIL-15: all who could hold a lock are seen, or not: %s", (_, path, seesMachine, seen) => {
  expect(areHoldersSeen(path, { mounts: MOUNTS, seesMachine })).toBe(seen);
});

test("FAIL-15: where the kernel says nothing of mounts, nothing is proven", () => {
  expect(areHoldersSeen("/a", { mounts: undefined, seesMachine: true })).toBe(false);
});
