/** What is used of the package, which has no types. What it throws for a wrong program is a string. */
declare module '@michaelhomer/jqjs' {
  /** A filter: the results for one value, found as they are read. */
  export type Filter = (value: unknown) => Generator<unknown>;
  export function compile(program: string): Filter;
}
