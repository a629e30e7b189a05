import { createRequire } from 'node:module';

/**
 * Loads a module of the binding; throws if it or a library of the system is missing. `require` tries again after a failure,
 * so that a library installed since then is found; `import` would remember the failure.
 */
export const requireBinding: (name: 'pcsc-mini' | 'pcsc-mini/build/addon.node.js') => unknown = createRequire(
  import.meta.url,
);
