import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.bytes.*;
import org.elasticsearch.common.component.AbstractLifecycleComponent;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.lease.Releasable;
import org.elasticsearch.common.network.NetworkService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.transport.*;
import org.elasticsearch.common.util.*;
import org.elasticsearch.common.xcontent.NamedXContentRegistry;
import org.elasticsearch.http.*;
import org.elasticsearch.indices.breaker.CircuitBreakerService;
import org.elasticsearch.node.*;
import org.elasticsearch.plugins.*;
import org.elasticsearch.rest.*;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.*;

/**
 * One node of Elasticsearch, from its core alone: for the recordings of the tests, and for nothing else.
 *
 * <p>The core has no transport and no HTTP server; those of a download are modules. Here is a transport that reaches
 * nobody, and an HTTP server that hands every request to the node's own dispatcher.
 *
 * <p>Arguments: a folder, a port, and settings as NAME=VALUE.
 */
public class Server extends Node {
  Server(Settings settings) {
    super(
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "alone"),
        List.of(Network.class),
        true);
  }

  public static void main(String[] arguments) throws Exception {
    Settings.Builder settings =
        Settings.builder()
            .put("path.home", arguments[0])
            .put("http.port", arguments[1])
            .put("http.host", "127.0.0.1")
            .put("discovery.type", "single-node")
            .put("transport.type", "alone")
            .put("http.type", "door")
            .put("cluster.routing.allocation.disk.threshold_enabled", false);
    for (String one : Arrays.asList(arguments).subList(2, arguments.length)) {
      String[] parts = one.split("=", 2);
      settings.put(parts[0], parts[1]);
    }
    new Server(settings.build()).start();
    System.out.println("Elasticsearch " + org.elasticsearch.Version.CURRENT + " listens on port " + arguments[1]);
    new CountDownLatch(1).await();
  }

  public static class Network extends Plugin implements NetworkPlugin {
    @Override
    public Map<String, Supplier<Transport>> getTransports(
        Settings settings,
        ThreadPool threads,
        PageCacheRecycler pages,
        CircuitBreakerService breakers,
        NamedWriteableRegistry names,
        NetworkService network) {
      return Map.of("alone", Alone::new);
    }

    @Override
    public Map<String, Supplier<HttpServerTransport>> getHttpTransports(
        Settings settings,
        ThreadPool threads,
        BigArrays arrays,
        PageCacheRecycler pages,
        CircuitBreakerService breakers,
        NamedXContentRegistry contents,
        NetworkService network,
        HttpServerTransport.Dispatcher dispatcher) {
      return Map.of("door", () -> new Door(settings, network, arrays, threads, contents, dispatcher));
    }
  }

  /** The transport of a node without neighbours. */
  static class Alone extends AbstractLifecycleComponent implements Transport {
    final Map<String, RequestHandlerRegistry<? extends TransportRequest>> handlers = new ConcurrentHashMap<>();
    final ResponseHandlers responses = new ResponseHandlers();
    final TransportAddress address = new TransportAddress(InetAddress.getLoopbackAddress(), 9399);

    public <R extends TransportRequest> void registerRequestHandler(RequestHandlerRegistry<R> handler) {
      handlers.put(handler.getAction(), handler);
    }

    public RequestHandlerRegistry<? extends TransportRequest> getRequestHandler(String action) {
      return handlers.get(action);
    }

    public void addMessageListener(TransportMessageListener listener) {}

    public boolean removeMessageListener(TransportMessageListener listener) {
      return true;
    }

    public BoundTransportAddress boundAddress() {
      return new BoundTransportAddress(new TransportAddress[] {address}, address);
    }

    public Map<String, BoundTransportAddress> profileBoundAddresses() {
      return Map.of();
    }

    public TransportAddress[] addressesFromString(String text, int limit) {
      return new TransportAddress[0];
    }

    public List<String> getLocalAddresses() {
      return List.of();
    }

    public Releasable openConnection(DiscoveryNode node, ConnectionProfile profile, ActionListener<Connection> to) {
      to.onFailure(new ConnectTransportException(node, "this node is alone"));
      return () -> {};
    }

    public TransportStats getStats() {
      return new TransportStats(0, 0, 0, 0, 0);
    }

    public ResponseHandlers getResponseHandlers() {
      return responses;
    }

    protected void doStart() {}

    protected void doStop() {}

    protected void doClose() {}
  }

  /** HTTP by the server of the JDK; what a request means, and its answer, is the node's. */
  static class Door extends AbstractHttpServerTransport {
    HttpServer server;

    Door(
        Settings settings,
        NetworkService network,
        BigArrays arrays,
        ThreadPool threads,
        NamedXContentRegistry contents,
        HttpServerTransport.Dispatcher dispatcher) {
      super(settings, network, arrays, threads, contents, dispatcher);
    }

    protected void doStart() {
      bindServer();
    }

    protected void stopInternal() {
      server.stop(0);
    }

    protected HttpServerChannel bind(InetSocketAddress address) throws Exception {
      server = HttpServer.create(address, 0);
      server.setExecutor(Executors.newCachedThreadPool());
      server.createContext(
          "/",
          exchange -> {
            Call call = new Call(exchange);
            serverAcceptedChannel(call);
            incomingRequest(call, call);
            call.await();
          });
      server.start();
      return new HttpServerChannel() {
        public InetSocketAddress getLocalAddress() {
          return server.getAddress();
        }

        public void close() {}

        public void addCloseListener(ActionListener<Void> listener) {}

        public boolean isOpen() {
          return true;
        }
      };
    }
  }

  static class Answer implements HttpResponse {
    final RestStatus status;
    final BytesReference content;
    final Map<String, String> headers = new LinkedHashMap<>();

    Answer(RestStatus status, BytesReference content) {
      this.status = status;
      this.content = content;
    }

    public void addHeader(String name, String value) {
      headers.put(name, value);
    }

    public boolean containsHeader(String name) {
      return headers.containsKey(name);
    }
  }

  /** One request, and the way back. */
  static class Call implements HttpRequest, HttpChannel {
    final HttpExchange exchange;
    final BytesReference body;
    final CountDownLatch done = new CountDownLatch(1);
    final List<ActionListener<Void>> listeners = new CopyOnWriteArrayList<>();

    Call(HttpExchange exchange) throws IOException {
      this.exchange = exchange;
      body = new BytesArray(exchange.getRequestBody().readAllBytes());
    }

    void await() {
      try {
        done.await();
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
      }
    }

    public RestRequest.Method method() {
      return RestRequest.Method.valueOf(exchange.getRequestMethod());
    }

    public String uri() {
      return exchange.getRequestURI().toString();
    }

    public BytesReference content() {
      return body;
    }

    public Map<String, List<String>> getHeaders() {
      Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      headers.putAll(exchange.getRequestHeaders());
      return headers;
    }

    public List<String> strictCookies() {
      return List.of();
    }

    public HttpVersion protocolVersion() {
      return HttpVersion.HTTP_1_1;
    }

    public HttpRequest removeHeader(String header) {
      return this;
    }

    public HttpResponse createResponse(RestStatus status, BytesReference content) {
      return new Answer(status, content);
    }

    public void sendResponse(HttpResponse response, ActionListener<Void> listener) {
      Answer answer = (Answer) response;
      byte[] bytes = BytesReference.toBytes(answer.content);
      answer.headers.remove("content-length");
      answer.headers.forEach(exchange.getResponseHeaders()::add);
      try (exchange) {
        exchange.sendResponseHeaders(answer.status.getStatus(), bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
          exchange.getResponseBody().write(bytes);
        }
        listener.onResponse(null);
      } catch (IOException error) {
        listener.onFailure(error);
      } finally {
        done.countDown();
        close();
      }
    }

    public InetSocketAddress getLocalAddress() {
      return exchange.getLocalAddress();
    }

    public InetSocketAddress getRemoteAddress() {
      return exchange.getRemoteAddress();
    }

    public void close() {
      listeners.forEach(one -> one.onResponse(null));
      listeners.clear();
    }

    public void addCloseListener(ActionListener<Void> listener) {
      listeners.add(listener);
    }

    public boolean isOpen() {
      return done.getCount() > 0;
    }
  }
}
