/** Replaces drivers/pcsc/binding.ts in the single executable: the bundler follows these calls and packs the binding. */
import type * as Binding from '../../drivers/pcsc/binding.ts';

export const requireBinding: typeof Binding.requireBinding = name =>
  name === 'pcsc-mini' ? require('pcsc-mini') : require('pcsc-mini/build/addon.node.js');
