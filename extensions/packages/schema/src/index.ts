/** Types of the protocol between a Session and its views. */
export {};
