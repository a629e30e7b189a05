declare const DEVMGR_VERSION: string | undefined;

/** Version of the program, set by the build; `0.0.0-source` when it runs from the sources. */
export const version: string = typeof DEVMGR_VERSION === 'string' ? DEVMGR_VERSION : '0.0.0-source';
