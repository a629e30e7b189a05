import { connect, type Socket } from 'node:net';
import { type ListedReader, MINOR_VERSIONS, PcscdConversation } from '../../protocols/pcscd.ts';

const DEFAULT_SOCKET = '/run/pcscd/pcscd.comm';

/** What is reported about the service's list of readers. */
interface PcscdListener {
  /** All readers: at first, and after each change. */
  onList(readers: ListedReader[]): void;
  /** There will be no more lists: the service is gone, or its protocol is not known. Called at most once. */
  onEnd(why: string): void;
}

/**
 * Reads the list of all readers from pcscd's own socket, because the binding watches only four. Never throws. Does not keep
 * the process running.
 */
export class PcscdSocket {
  readonly #listener: PcscdListener;
  #closed = false;
  #socket: Socket | null = null;

  constructor(listener: PcscdListener) {
    this.#listener = listener;
    this.#connect(MINOR_VERSIONS);
  }

  /** No list and no end is reported after this. */
  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  /** Connects with the first of these versions; with the next one if the service refuses it. */
  #connect([minor, ...others]: readonly number[]): void {
    if (minor === undefined) {
      this.#end('pcscd uses another version of its protocol');
      return;
    }
    const socket = connect(process.env.PCSCLITE_CSOCK_NAME ?? DEFAULT_SOCKET);
    const conversation = new PcscdConversation(minor, readers => this.#listener.onList(readers));
    this.#socket = socket;
    socket.unref();
    socket.on('data', (chunk: Buffer) => this.#receive(socket, conversation, chunk, others));
    socket.on('error', error => this.#end(error.message));
    socket.on('close', () => this.#end('pcscd has closed the connection'));
    socket.write(conversation.greeting);
  }

  #receive(socket: Socket, conversation: PcscdConversation, chunk: Buffer, others: readonly number[]): void {
    if (this.#closed) return;
    try {
      const reply = conversation.take(chunk);
      if (reply === 'refused') {
        socket.removeAllListeners('close').destroy();
        this.#connect(others);
      } else for (const message of reply) socket.write(message);
    } catch (error) {
      // Thrown by the listener: the binding may have no native part on this machine.
      socket.destroy();
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  #end(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#listener.onEnd(why);
  }
}
