import type { BenchDaemon } from './processes.ts';

/** Fills a registry through the interface, in batches of 10,000: two types, five manufacturers. */
export async function fill(daemon: BenchDaemon, devices: number): Promise<void> {
  for (let from = 0; from < devices; from += 10_000) {
    const count = Math.min(10_000, devices - from);
    const batch = Array.from({ length: count }, (_, i) => ({
      deviceType: (from + i) % 2 ? 'UKEY' : 'SIMKEY',
      serialNumber: `SN-${String(from + i).padStart(9, '0')}`,
      manufacturer: `Maker ${(from + i) % 5}`,
      model: `Model ${(from + i) % 20}`,
    }));
    const { status } = await daemon.call('POST', '/api/devices/batch-register', { devices: batch });
    if (status !== 200) throw new Error(`filling failed: ${status}`);
  }
}
