// `using` calls the method Symbol.dispose. Define the symbol for engines that lack it, as compilers
// do.
Symbol.dispose ??= Symbol.for('Symbol.dispose');
