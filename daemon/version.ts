declare const DEVMGR_VERSION: string | undefined;

/** Version of the program: put in by the build, read from package.json when run from the sources. */
export const version: string = typeof DEVMGR_VERSION === 'string' ? DEVMGR_VERSION : '0.0.0-source';
