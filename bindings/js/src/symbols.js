// `using` calls this method; engines without it get the symbol under the name that compilers look for.
Symbol.dispose ??= Symbol.for('Symbol.dispose');
