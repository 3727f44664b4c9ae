// A stand-in for MongoDB 4.4, which no public module or Debian package offers: mongod and mongo as one program, by its name.
//
// mongod runs FerretDB on SQLite and stands in front of it: old drivers such as mgo send commands as OP_QUERY, of which FerretDB
// accepts only a few, so commands and replies are translated to OP_MSG and back. mongo runs JavaScript with db, print and a
// few methods of collections. Roles, replication and MongoDB's own log lines do not exist here.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

const (
	opReply  = 1
	opQuery  = 2004
	opKill   = 2007
	opMsg    = 2013
	header   = 16
	maxBytes = 48 << 20
	socket   = "/tmp/ferretdb.sock"
)

func main() {
	if filepath.Base(os.Args[0]) == "mongo" {
		os.Exit(runShell(os.Args[1:]))
	}
	os.Exit(runServer(os.Args[1:]))
}

// runServer parses mongod's options, starts FerretDB and serves until it or this program is ended.
func runServer(arguments []string) int {
	if len(arguments) > 0 && arguments[0] == "mongod" {
		arguments = arguments[1:]
	}
	flags := flag.NewFlagSet("mongod", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	auth := flags.Bool("auth", false, "")
	port := flags.String("port", "27017", "")
	folder := flags.String("dbpath", "/data/db", "")
	address := flags.String("bind_ip", "", "")
	flags.Bool("bind_ip_all", true, "")
	if err := flags.Parse(arguments); err != nil || flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "Error parsing command line: %v %v\ntry 'mongod --help' for more information\n", err, flags.Args())
		return 2
	}
	os.Remove(socket)
	options := []string{
		"--handler=sqlite", "--sqlite-url=file:" + *folder + "/", "--listen-addr=", "--listen-unix=" + socket,
		"--state-dir=-", "--debug-addr=-", "--telemetry=disable", "--log-level=warn",
	}
	if *auth {
		options = append(options, "--test-enable-new-auth", "--setup-database=admin", "--setup-username=admin", "--setup-password=admin")
	}
	server := exec.Command("ferretdb", options...)
	server.Stdout, server.Stderr = os.Stdout, os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		server.Process.Signal(<-signals)
	}()
	go listen(net.JoinHostPort(strings.Split(*address, ",")[0], *port))
	server.Wait()
	return server.ProcessState.ExitCode()
}

// listen serves clients as soon as FerretDB accepts connections.
func listen(address string) {
	for {
		if backend, err := net.Dial("unix", socket); err == nil {
			backend.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(48)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		go serve(client)
	}
}

// serve answers the messages of a client, one after the other, by a connection of its own to FerretDB.
func serve(client net.Conn) {
	defer client.Close()
	backend, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer backend.Close()
	for {
		request, err := read(client)
		if err != nil {
			return
		}
		if code(request) == opKill { // which has no reply; FerretDB closes a cursor with its connection
			continue
		}
		if command, _, isOld := parseOld(request); isOld && command.Index(0).Key() == "getnonce" {
			// mgo asks for one before every login, and does not use it for SCRAM.
			nonce, _ := bson.Marshal(bson.D{{Key: "nonce", Value: "0123456789abcdef"}, {Key: "ok", Value: 1.0}})
			client.Write(translateReply(assemble(answer(request), opMsg, make([]byte, 5), nonce)))
			continue
		}
		asked, isOld := translateRequest(request)
		if _, err := backend.Write(asked); err != nil {
			return
		}
		reply, err := read(backend)
		if err != nil {
			return
		}
		if isOld {
			reply = translateReply(reply)
		}
		if _, err := client.Write(reply); err != nil {
			return
		}
	}
}

func read(conn io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(conn, size); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(size)
	if length < header || length > maxBytes {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := make([]byte, length)
	copy(message, size)
	_, err := io.ReadFull(conn, message[4:])
	return message, err
}

func code(message []byte) uint32 { return binary.LittleEndian.Uint32(message[12:]) }

// parseOld returns the command in an OP_QUERY and its database, and whether the message is one.
func parseOld(message []byte) (bson.Raw, string, bool) {
	if code(message) != opQuery {
		return nil, "", false
	}
	name, rest, found := bytes.Cut(message[header+4:], []byte{0})
	database, isCommand := strings.CutSuffix(string(name), ".$cmd")
	if !found || !isCommand || len(rest) < 8 {
		return nil, "", false
	}
	command := bson.Raw(rest[8:])
	if command.Validate() != nil {
		return nil, "", false
	}
	_, err := command.IndexErr(0)
	return command, database, err == nil
}

// translateRequest returns a command in OP_QUERY as OP_MSG, and whether it was one. FerretDB understands isMaster as it is.
func translateRequest(message []byte) ([]byte, bool) {
	command, database, isOld := parseOld(message)
	if !isOld || strings.EqualFold(command.Index(0).Key(), "isMaster") || command.Index(0).Key() == "hello" {
		return message, false
	}
	var document bson.D
	if bson.Unmarshal(command, &document) != nil {
		return message, false
	}
	for _, field := range document {
		if indexes, isArray := field.Value.(bson.A); isArray && field.Key == "indexes" {
			dropNamespaces(indexes)
		}
	}
	encoded, err := bson.Marshal(append(document, bson.E{Key: "$db", Value: database}))
	if err != nil {
		return message, false
	}
	return assemble(message, opMsg, make([]byte, 5), encoded), true // no flags, then a section of kind 0
}

// dropNamespaces removes the option ns of old drivers, which FerretDB refuses, from definitions of indexes.
func dropNamespaces(indexes bson.A) {
	for position, index := range indexes {
		if definition, isDocument := index.(bson.D); isDocument {
			indexes[position] = slices.DeleteFunc(definition, func(field bson.E) bool { return field.Key == "ns" })
		}
	}
}

// answer returns the beginning of a reply to a message.
func answer(message []byte) []byte {
	started := make([]byte, 12)
	copy(started[8:], message[4:8])
	return started
}

// translateReply returns the document of an OP_MSG as OP_REPLY.
func translateReply(message []byte) []byte {
	if code(message) != opMsg {
		return message
	}
	document := message[header+5:]
	prefix := make([]byte, 20)
	prefix[0], prefix[16] = 8, 1 // awaitCapable, and the number of documents
	return assemble(message, opReply, prefix, document[:binary.LittleEndian.Uint32(document)])
}

// assemble returns a message with the ids of another.
func assemble(message []byte, operation uint32, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	assembled := make([]byte, header, header+len(body))
	copy(assembled, message[:12])
	binary.LittleEndian.PutUint32(assembled, uint32(header+len(body)))
	binary.LittleEndian.PutUint32(assembled[12:], operation)
	return append(assembled, body...)
}

const prelude = `
const run = (name, command) => JSON.parse(send(name, JSON.stringify(command)));
const check = reply => { if (!reply.ok) throw new Error(reply.errmsg); return reply; };
const makeCursor = (name, command) => ({
  limit(number) { return makeCursor(name, {...command, limit: number}); },
  sort(order) { return makeCursor(name, {...command, sort: order}); },
  toArray() { return check(run(name, {...command, batchSize: 1000000, singleBatch: true})).cursor.firstBatch; },
  forEach(action) { this.toArray().forEach(document => { action(document); }); },
  count() { return check(run(name, {count: command.find, query: command.filter})).n; },
});
const makeCollection = (name, collection) => ({
  find(filter = {}) { return makeCursor(name, {find: collection, filter}); },
  findOne(filter = {}) { return this.find(filter).limit(1).toArray()[0] ?? null; },
  count(filter = {}) { return this.find(filter).count(); },
  countDocuments(filter = {}) { return this.find(filter).count(); },
  insertOne(document) { return check(run(name, {insert: collection, documents: [document]})); },
  deleteMany(filter) { return check(run(name, {delete: collection, deletes: [{q: filter, limit: 0}]})); },
});
const getDatabase = name => new Proxy({
  getName: () => name,
  runCommand: command => run(name, typeof command === "string" ? {[command]: 1} : command),
  adminCommand: command => run("admin", command),
  getSiblingDB: getDatabase,
  getCollection: collection => makeCollection(name, collection),
  getCollectionNames: () => check(run(name, {listCollections: 1})).cursor.firstBatch.map(each => each.name).sort(),
  createUser: user => check(run(name, {createUser: user.user, pwd: user.pwd, roles: user.roles})),
}, {get: (methods, key) => methods[key] ?? makeCollection(name, key)});
var db = getDatabase(database);
`

// runShell evaluates JavaScript against a server, as mongo does, and returns its exit status.
func runShell(arguments []string) int {
	flags := flag.NewFlagSet("mongo", flag.ExitOnError)
	flags.Bool("quiet", false, "")
	host := flags.String("host", "127.0.0.1", "")
	port := flags.String("port", "27017", "")
	script := flags.String("eval", "", "")
	source := flags.String("authenticationDatabase", "", "")
	var user, password string
	for _, name := range []string{"u", "username"} {
		flags.StringVar(&user, name, "", "")
	}
	for _, name := range []string{"p", "password"} {
		flags.StringVar(&password, name, "", "")
	}
	database := "test"
	for flags.Parse(arguments); flags.NArg() > 0; flags.Parse(arguments) {
		database, arguments = flags.Arg(0), flags.Args()[1:]
	}
	if *script == "" {
		typed, _ := io.ReadAll(os.Stdin)
		*script = regexp.MustCompile(`(?m)^use (\w+)$`).ReplaceAllString(string(typed), `db = getDatabase("$1");`)
	}
	settings := options.Client().SetHosts([]string{net.JoinHostPort(*host, *port)}).SetDirect(true)
	settings.SetServerSelectionTimeout(5 * time.Second)
	if user != "" {
		if *source == "" {
			*source = database
		}
		settings.SetAuth(options.Credential{Username: user, Password: password, AuthSource: *source})
	}
	client, err := mongo.Connect(context.Background(), settings)
	if err == nil {
		err = client.Ping(context.Background(), nil)
	}
	if err != nil {
		fmt.Printf("Error: couldn't connect to server %s:%s, connection attempt failed: %v\nexception: connect failed\nexiting with code 1\n", *host, *port, err)
		return 1
	}
	return evaluate(client, database, *script)
}

func evaluate(client *mongo.Client, database, script string) int {
	engine := goja.New()
	engine.Set("database", database)
	engine.Set("print", func(call goja.FunctionCall) goja.Value {
		words := make([]string, len(call.Arguments))
		for index, value := range call.Arguments {
			words[index] = value.String()
		}
		fmt.Println(strings.Join(words, " "))
		return goja.Undefined()
	})
	engine.Set("send", func(name, text string) (string, error) {
		var command bson.D
		if err := bson.UnmarshalExtJSON([]byte(text), false, &command); err != nil {
			return "", err
		}
		reply, err := client.Database(name).RunCommand(context.Background(), command).Raw()
		if reply == nil {
			return "", err
		}
		encoded, err := bson.MarshalExtJSON(reply, false, false)
		return string(encoded), err
	})
	if _, err := engine.RunString(prelude); err != nil {
		panic(err)
	}
	value, err := engine.RunString(script)
	if err != nil {
		fmt.Println("uncaught exception:", err)
		return 252
	}
	if goja.IsUndefined(value) {
		return 0
	}
	if _, isObject := value.(*goja.Object); isObject {
		engine.Set("result", value)
		value, _ = engine.RunString("JSON.stringify(result, null, 2)")
	}
	fmt.Println(value)
	return 0
}
