/** What the bundler replaces in the sources: the version of the program and what is known of this build. */
export function definitions(absent?: readonly string[]): Record<string, string>;
