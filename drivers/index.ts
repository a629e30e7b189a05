export * from './driver.ts';
export { endProcess, nativeCallsOut } from './exit.ts';
export { createHidDriver } from './hid/index.ts';
export { createPcscDriver, type PcscDriver, type PcscDriverOptions } from './pcsc/index.ts';
export { createSimulatedDriver, type SimulatedDriver, type SimulatedDriverOptions } from './simulated/index.ts';
