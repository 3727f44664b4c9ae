// A stand-in for Consul's development agent: the part of its HTTP API by which HotelReservation's services register and find
// each other, with everything in memory. It has no health checks, no peers, no DNS and no command line.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxWait = 5 * time.Minute

// Service is an instance of a service as Consul's API shows it.
type Service struct {
	ID      string
	Service string
	Address string
	Port    int
}

// Agent has the registered services. Its index grows with every change, and then changed is closed and replaced.
type Agent struct {
	mutex    sync.Mutex
	index    uint64
	services map[string]Service
	changed  chan struct{}
}

func main() {
	agent := &Agent{index: 1, services: map[string]Service{}, changed: make(chan struct{})}
	http.HandleFunc("PUT /v1/agent/service/register", agent.register)
	http.HandleFunc("PUT /v1/agent/service/deregister/{id}", agent.deregister)
	http.HandleFunc("GET /v1/health/service/{name}", agent.find)
	http.HandleFunc("GET /v1/catalog/services", agent.list)
	log.Println("agent: Started HTTP server: address=[::]:8500 network=tcp")
	log.Fatal(http.ListenAndServe(":8500", nil))
}

func (agent *Agent) register(writer http.ResponseWriter, request *http.Request) {
	var asked struct {
		ID, Name, Address string
		Port              int
	}
	if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
		http.Error(writer, "Request decode failed: "+err.Error(), http.StatusBadRequest)
		return
	}
	log.Printf("agent: Synced service: service=%s", asked.ID)
	agent.change(func() { agent.services[asked.ID] = Service{asked.ID, asked.Name, asked.Address, asked.Port} })
}

func (agent *Agent) deregister(writer http.ResponseWriter, request *http.Request) {
	log.Printf("agent: Deregistered service: service=%s", request.PathValue("id"))
	agent.change(func() { delete(agent.services, request.PathValue("id")) })
}

func (agent *Agent) change(act func()) {
	agent.mutex.Lock()
	defer agent.mutex.Unlock()
	act()
	agent.index++
	close(agent.changed)
	agent.changed = make(chan struct{})
}

// find answers with the instances of a service, at the latest after the given time if the caller knows the index already.
func (agent *Agent) find(writer http.ResponseWriter, request *http.Request) {
	known, _ := strconv.ParseUint(request.URL.Query().Get("index"), 10, 64)
	wait, err := time.ParseDuration(request.URL.Query().Get("wait"))
	if err != nil || wait > maxWait {
		wait = maxWait
	}
	agent.mutex.Lock()
	index, changed := agent.index, agent.changed
	agent.mutex.Unlock()
	if known >= index {
		select {
		case <-changed:
		case <-time.After(wait):
		case <-request.Context().Done():
			return
		}
	}
	agent.mutex.Lock()
	defer agent.mutex.Unlock()
	found := []map[string]any{}
	for _, service := range agent.services {
		if service.Service == request.PathValue("name") {
			found = append(found, map[string]any{"Node": map[string]any{"Node": "consul"}, "Service": service, "Checks": []any{}})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		return strings.Compare(found[i]["Service"].(Service).ID, found[j]["Service"].(Service).ID) < 0
	})
	agent.answer(writer, found)
}

func (agent *Agent) list(writer http.ResponseWriter, _ *http.Request) {
	agent.mutex.Lock()
	defer agent.mutex.Unlock()
	names := map[string][]string{"consul": {}}
	for _, service := range agent.services {
		names[service.Service] = []string{}
	}
	agent.answer(writer, names)
}

func (agent *Agent) answer(writer http.ResponseWriter, content any) {
	writer.Header().Set("Content-Type", "application/json")
	writer.Header().Set("X-Consul-Index", strconv.FormatUint(agent.index, 10))
	json.NewEncoder(writer).Encode(content)
}
