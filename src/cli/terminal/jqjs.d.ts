/** The used part of the package, which has no types. For a wrong program it throws a string. */
declare module '@michaelhomer/jqjs' {
  /** A filter: the results for one value, found as they are read. */
  export type Filter = (value: unknown) => Generator<unknown>;
  export function compile(program: string): Filter;

  /** A part of a program. `apply` finds its results for a value. */
  export interface Node {
    readonly lhs: Node;
    readonly rhs: Node;
    apply(this: Node, value: unknown, variables: unknown): Generator<unknown>;
  }
  /** The program as its outermost part. */
  export function compileNode(program: string): Node;
}
