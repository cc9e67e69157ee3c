package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** Owns devices and plugins. Programs that do not create a context use {@link #shared}. */
public final class Context extends NativeHandle {
  /** The severity of a log message. */
  public enum LogLevel {
    /** Messages with details for developers of Tenon. */
    DEBUG,
    /** Messages about normal events. */
    INFO,
    /** Warning messages. */
    WARNING,
    /** Error messages. */
    ERROR
  }

  /** How strictly results follow IEEE arithmetic. */
  public enum NumericPolicy {
    /** Every operation rounds as its op specifies. */
    STRICT,
    /** Devices may use faster, less exact arithmetic. */
    FAST
  }

  /** What happens if a device has no kernel for an op. */
  public enum FallbackPolicy {
    /** Runs the op on the CPU, and logs a warning once for each op. */
    WARN,
    /** Fails the call. */
    STRICT,
    /** Runs the op on the CPU silently. */
    AUTO
  }

  /** Options of a context. */
  public static final class Options {
    private int threads;
    private long memoryLimit;
    private final List<String> pluginPaths = new ArrayList<>();
    private final List<String[]> pluginOptions = new ArrayList<>();
    private LogLevel logLevel = LogLevel.WARNING;
    private BiConsumer<LogLevel, String> log;
    private int numericPolicy;
    private int fallbackPolicy = FallbackPolicy.WARN.ordinal();
    private boolean deterministic;

    /** Creates the default options. */
    public Options() {}

    /**
     * Sets the number of threads of each device that computes on the host. Default: all cores.
     *
     * @param threads the number of threads; 0 for all cores
     * @return this
     */
    public Options threads(int threads) {
      this.threads = threads;
      return this;
    }

    /**
     * Limits the memory of each device. Default: no limit.
     *
     * @param bytes the limit in bytes; 0 for none
     * @return this
     */
    public Options memoryLimit(long bytes) {
      this.memoryLimit = bytes;
      return this;
    }

    /**
     * Adds a plugin file, or a folder of plugins. It is searched before the default folders.
     *
     * @param path the file or folder
     * @return this
     */
    public Options pluginPath(String path) {
      pluginPaths.add(path);
      return this;
    }

    /**
     * Sets an option of a plugin. The plugin's documentation lists the names.
     *
     * @param plugin the plugin's name
     * @param key the name of the option
     * @param value the value of the option
     * @return this
     */
    public Options pluginOption(String plugin, String key, String value) {
      pluginOptions.add(new String[] {plugin, key, value});
      return this;
    }

    /**
     * Sets the receiver of log messages, which any thread may call. Default: standard error.
     *
     * @param level the lowest severity that is logged
     * @param log receives the messages
     * @return this
     */
    public Options log(LogLevel level, BiConsumer<LogLevel, String> log) {
      this.logLevel = level;
      this.log = log;
      return this;
    }

    /**
     * Sets how strictly results follow IEEE arithmetic. Default: STRICT.
     *
     * @param policy the policy
     * @return this
     */
    public Options numericPolicy(NumericPolicy policy) {
      this.numericPolicy = policy.ordinal();
      return this;
    }

    /**
     * Sets what happens if a device has no kernel for an op. Default: WARN.
     *
     * @param policy the policy
     * @return this
     */
    public Options fallbackPolicy(FallbackPolicy policy) {
      this.fallbackPolicy = policy.ordinal();
      return this;
    }

    /**
     * Sets whether results are repeatable to the bit from run to run, even under FAST. Default:
     * false.
     *
     * @param deterministic whether results are repeatable
     * @return this
     */
    public Options deterministic(boolean deterministic) {
      this.deterministic = deterministic;
      return this;
    }

    private long create() {
      Local local = Local.get();
      long at = local.top;
      try {
        long out = local.reserve(8);
        long c = local.reserveZeros(Structs.tenon_context_options.SIZE);
        Memory.putInt(c, (int) Structs.tenon_context_options.SIZE);
        Memory.putInt(c + Structs.tenon_context_options.log_level, logLevel.ordinal());
        Memory.putLong(c + Structs.tenon_context_options.memory_limit_bytes, memoryLimit);
        Memory.putInt(c + Structs.tenon_context_options.threads, threads);
        Memory.putInt(c + Structs.tenon_context_options.numeric_policy, numericPolicy);
        Memory.putInt(c + Structs.tenon_context_options.fallback_policy, fallbackPolicy);
        Memory.putBoolean(c + Structs.tenon_context_options.deterministic, deterministic);
        long paths = local.reserve(Math.max(8, 16L * pluginPaths.size()));
        for (int i = 0; i < pluginPaths.size(); ++i) {
          local.putString(paths + 16L * i, pluginPaths.get(i));
        }
        Memory.putLong(c + Structs.tenon_context_options.plugin_paths, paths);
        Memory.putLong(c + Structs.tenon_context_options.n_plugin_paths, pluginPaths.size());
        long options = local.reserve(Math.max(8, 48L * pluginOptions.size()));
        for (int i = 0; i < pluginOptions.size(); ++i) {
          for (int part = 0; part < 3; ++part) {
            local.putString(options + 48L * i + 16L * part, pluginOptions.get(i)[part]);
          }
        }
        Memory.putLong(c + Structs.tenon_context_options.plugin_options, options);
        Memory.putLong(c + Structs.tenon_context_options.n_plugin_options, pluginOptions.size());
        if (log != null) {
          BiConsumer<LogLevel, String> receiver = log;
          Callbacks.putLog(
              local,
              c + Structs.tenon_context_options.log,
              (level, message) ->
                  receiver.accept(LogLevel.values()[Math.clamp(level, 0, 3)], message));
        }
        Calls.check(C.tenon_context_create(c, out));
        return Memory.getLong(out);
      } finally {
        local.release(at);
      }
    }
  }

  private static final class Shared {
    static final Context CONTEXT = new Context();
  }

  /** Creates a context with the default options. */
  public Context() {
    this(new Options());
  }

  /**
   * Creates a context. Loads plugins and opens devices when they are first needed.
   *
   * @param options the options
   */
  public Context(Options options) {
    super(Tracker.Kind.CONTEXT, options.create(), false);
  }

  /**
   * Returns the default context of the program, which is never closed.
   *
   * @return the context
   */
  public static Context shared() {
    return Shared.CONTEXT;
  }

  /**
   * Finds a device by name.
   *
   * @param name "cpu:1"; "cpu" for cpu:0; "best" for the first device that is not a CPU
   * @return the device
   */
  public Device device(String name) {
    return new Device(
        get(
            (context, out) ->
                C.tenon_context_find_device(context, Local.get().string(name), out)));
  }

  /**
   * Returns all devices. Loads every plugin.
   *
   * @return the devices
   */
  public List<Device> devices() {
    Local local = Local.get();
    List<Device> all = new ArrayList<>();
    long at = local.reserve(8);
    try {
      Calls.check(C.tenon_context_count_devices(handle(), at));
      long count = Memory.getLong(at);
      for (long i = 0; i < count; ++i) {
        Calls.check(C.tenon_context_get_device(handle(), i, at));
        all.add(new Device(Memory.getLong(at)));
      }
    } finally {
      local.release(at);
      Reference.reachabilityFence(this);
    }
    return all;
  }

  /** The state of a plugin. */
  public enum PluginState {
    /** The plugin is not loaded, because none of its devices was requested. */
    NOT_TRIED,
    /** The plugin is loaded. */
    LOADED,
    /** Loading the plugin was attempted and failed. */
    REFUSED
  }

  /**
   * A plugin that Tenon found.
   *
   * @param path the file of the plugin
   * @param name the name of the plugin
   * @param version the version of the plugin; empty if it is not loaded
   * @param state whether the plugin is loaded
   * @param reason why the plugin could not be loaded; empty otherwise
   */
  public record PluginCandidate(
      String path, String name, String version, PluginState state, String reason) {}

  /**
   * Lists the plugins that were found, loaded or not.
   *
   * @return the plugins, in the order in which they are tried
   */
  public List<PluginCandidate> candidates() {
    Local local = Local.get();
    List<PluginCandidate> all = new ArrayList<>();
    long count = C.tenon_context_count_candidates(handle());
    for (long i = 0; i < count; ++i) {
      long at = local.reserveZeros(Structs.tenon_plugin_candidate.SIZE);
      try {
        Memory.putInt(at, (int) Structs.tenon_plugin_candidate.SIZE);
        Calls.check(C.tenon_context_get_candidate(handle(), i, at));
        all.add(
            new PluginCandidate(
                Memory.text(at + Structs.tenon_plugin_candidate.path),
                Memory.text(at + Structs.tenon_plugin_candidate.name),
                Memory.text(at + Structs.tenon_plugin_candidate.version),
                PluginState.values()[Memory.getInt(at + Structs.tenon_plugin_candidate.state)],
                Memory.text(at + Structs.tenon_plugin_candidate.reason)));
      } finally {
        local.release(at);
      }
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Loads a plugin from a file.
   *
   * @param path the file
   */
  public void loadPlugin(String path) {
    run(context -> C.tenon_context_load_plugin(context, Local.get().string(path)));
  }

  /**
   * Cancels the calls in progress in all scopes of the context. They throw when they next check for
   * cancellation.
   */
  public void cancel() {
    C.tenon_context_cancel(handle());
    Reference.reachabilityFence(this);
  }

  /**
   * Sets whether functions run their code eagerly in every call, for debugging.
   *
   * @param eagerly if true, functions are no longer traced
   */
  public void runFunctionsEagerly(boolean eagerly) {
    C.tenon_context_run_functions_eagerly(handle(), eagerly);
    Reference.reachabilityFence(this);
  }

  /**
   * Enables or disables a pass that optimises graphs, for graphs that have not run yet.
   *
   * @param name the name of the pass
   * @param enabled whether the pass runs
   */
  public void setPass(String name, boolean enabled) {
    run(context -> C.tenon_context_set_pass(context, Local.get().string(name), enabled));
  }

  /** Frees the context when nothing uses it any more. The shared context stays open. */
  @Override
  public void close() {
    if (this != shared()) {
      super.close();
    }
  }
}
