/** One key shows several HID interfaces: this puts together what belongs to one plugging of one device. */
import type { HidInterface } from './system.ts';

export interface Unit {
  readonly id: string;
  readonly interfaces: readonly HidInterface[];
  /** Those parts that are the same for the whole device. */
  readonly device: HidInterface;
  /** Changes when an interface comes or goes. */
  readonly shape: string;
}

/** Groups by the place on the bus, in the order of the listing. */
export function groupUnits(list: readonly HidInterface[]): Map<string, Unit> {
  const groups = Map.groupBy(list, one => one.unit);
  const units = new Map<string, Unit>();
  for (const [id, interfaces] of groups) {
    const shape = interfaces.map(one => `${one.path} ${one.usagePage}:${one.usage}`).sort();
    units.set(id, { id, interfaces, device: interfaces[0]!, shape: shape.join('\n') });
  }
  return units;
}
