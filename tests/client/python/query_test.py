#!/usr/bin/env python3
"""Queries over daemons and mapped, against the arrays that the graphs were made of: those that Euler
and Graph-Learn show, and what is told of them."""

import collections
import inspect
import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import Papers, Shop  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import Query, UserIds  # noqa: E402


def lists_of(step):
    """The nodes of each list."""
    offsets = step.offsets.numpy()
    return numpy.split(step.nodes.numpy(), offsets[1:-1])


class EulerTest(unittest.TestCase):
    """Papers are of dense ids; `a` cites `b` means that b's neighbours have a among them."""

    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graphs = [vicinity_graph.Graph(cluster_file=cls.papers.cluster_file),
                      vicinity_graph.Graph(directory=cls.papers.shards)]
        for graph in cls.graphs:
            cls.addClassCleanup(graph.close)

    def ids(self, graph, nodes):
        return graph.user_ids("paper", nodes).numpy()

    def sources(self, target, keep=None):
        """Of the edges that lead to a paper, in the order of the list, by source and then edge."""
        edges = numpy.flatnonzero(self.papers.edge_index[1] == target)
        edges = edges if keep is None else edges[keep[edges]]
        return edges[numpy.argsort(self.papers.edge_index[0][edges], kind="stable")]

    def test_neighbors_with_a_condition_in_order_the_first_of_them(self):
        # v(nodes).outV(edge_types).has(price gt 2).order_by(id, asc).limit(2).as(nb)
        text = """
            src = nodes(paper, $seeds)
            nb = neighbors(src, cites, where="label > 2", order_by=id, limit=2)
        """
        for graph in self.graphs:
            answer = graph.prepare(text).run({"seeds": UserIds([7, 8, 9])})
            for seed, found in zip([7, 8, 9], lists_of(answer["nb"])):
                sources = self.papers.edge_index[0][self.sources(seed)]
                meet = numpy.sort(sources[self.papers.y[sources] > 2])[:2]
                numpy.testing.assert_array_equal(self.ids(graph, found), meet)

    def test_drawn_nodes_with_rows_of_two_steps(self):
        # sampleN(node_type, n).as(node_id).outV(edge_types).order_by(id, asc).limit(2).as(nb)
        #   .values(fid).as(nb_feature).v_select(node_id).values(fid).as(n_feature)
        query = Query()
        query.nodes("node_id", "paper", count=40, columns=["features"])
        query.neighbors("nb", "node_id", "cites", order_by="id", limit=2, columns=["features"])
        for graph in self.graphs:
            answer = graph.prepare(query).run(epoch=3)
            nodes = self.ids(graph, answer["node_id"].nodes)
            self.assertEqual(len(nodes), 40)
            for node, found in zip(nodes, lists_of(answer["nb"])):
                sources = numpy.sort(self.papers.edge_index[0][self.sources(node)])[:2]
                numpy.testing.assert_array_equal(self.ids(graph, found), sources)
            for step in answer.values():
                rows = self.papers.x[self.ids(graph, step.nodes)]
                numpy.testing.assert_array_equal(step.column("features").numpy(), rows)

    def test_two_drawn_hops_and_rows_of_the_first(self):
        # v(nodes).sampleNB(edge_types, n, 0).as(n1).sampleNB(edge_types, n, 0).as(n2)
        #   .v_select(n1).values(fid).as(n1_f)
        text = """
            src = nodes(paper, $seeds)
            n1 = neighbors(src, cites, 4, replace=true, columns=[features], edge_ids=true)
            n2 = neighbors(n1, cites, 4, replace=true, edge_ids=true)
        """
        answers = [graph.prepare(text).run({"seeds": UserIds([5, 6])}, batch=2)
                   for graph in self.graphs]
        for graph, answer in zip(self.graphs, answers):
            targets = numpy.array([5, 6])
            for step in (answer["n1"], answer["n2"]):
                edges = self.papers.edge_index[:, step.edge_ids.numpy()]
                counts = numpy.diff(step.offsets.numpy())
                numpy.testing.assert_array_equal(edges[1], numpy.repeat(targets, counts))
                targets = self.ids(graph, step.nodes)
                numpy.testing.assert_array_equal(edges[0], targets)
                self.assertEqual(set(counts), {4})
            rows = self.papers.x[self.ids(graph, answer["n1"].nodes)]
            numpy.testing.assert_array_equal(answer["n1"].column("features").numpy(), rows)
        numpy.testing.assert_array_equal(*(answer["n2"].edge_ids.numpy() for answer in answers))

    def test_a_layer_of_the_neighbors_of_all(self):
        # v(nodes).sampleLNB(edge_types, n, m, sqrt, 0).as(layer)
        text = """
            src = nodes(paper, $seeds)
            layer = layer(src, cites, 500, by=weight, square_root=true)
        """
        sums = collections.Counter()
        for seed in (7, 8, 9):
            for edge in self.sources(seed):
                sums[self.papers.edge_index[0][edge]] += self.papers.weight[edge]
        for graph in self.graphs:
            layer = graph.prepare(text).run({"seeds": UserIds([7, 8, 9])})["layer"]
            self.assertEqual(layer.offsets.tolist(), [0, 500])
            nodes, weights = self.ids(graph, layer.nodes), layer.weights.numpy()
            self.assertEqual({n for n, w in sums.items() if w > 0}, set(nodes))
            numpy.testing.assert_allclose(weights, [numpy.sqrt(sums[node]) for node in nodes])

    def test_edges_with_a_condition(self):
        # v(nodes).outE(edge_types).has(p gt 3).as(oe)
        text = """
            src = nodes(paper, $seeds)
            oe = neighbors(src, cites, where="time > 3", edge_columns=[time, weight], edge_ids=true)
        """
        for graph in self.graphs:
            oe = graph.prepare(text).run({"seeds": UserIds([7, 8])})["oe"]
            edges = numpy.concatenate([self.sources(seed, self.papers.time > 3) for seed in (7, 8)])
            numpy.testing.assert_array_equal(oe.edge_ids.numpy(), edges)
            numpy.testing.assert_array_equal(oe.edge_column("time").numpy(), self.papers.time[edges])
            numpy.testing.assert_array_equal(oe.edge_column("weight").numpy(),
                                             self.papers.weight[edges])

    def test_walks_that_later_steps_go_on_from(self):
        text = """
            src = nodes(paper, $seeds)
            w = walk(src, cites, 6, weighted_by=weight, p=0.5, q=2, edge_ids=true)
            near = neighbors(w, cites, 2)
        """
        answers = [graph.prepare(text).run({"seeds": UserIds([5, 6, 7, 5])}, batch=2)
                   for graph in self.graphs]
        for graph, answer in zip(self.graphs, answers):
            walks, edges = answer["w"].walks.numpy(), answer["w"].walk_edges.numpy()
            self.assertEqual((walks.shape, edges.shape), ((4, 7), (4, 6)))
            for walk, taken in zip(walks, edges):
                self.assertEqual(numpy.count_nonzero(walk >= 0), numpy.count_nonzero(taken >= 0) + 1)
                papers, taken = self.ids(graph, walk[walk >= 0]), taken[taken >= 0]
                numpy.testing.assert_array_equal(self.papers.edge_index[:, taken],
                                                 [papers[1:], papers[:-1]])
            numpy.testing.assert_array_equal(answer["w"].nodes.numpy(), walks[walks >= 0])
            self.assertEqual(len(answer["near"].offsets), len(answer["w"]) + 1)
        numpy.testing.assert_array_equal(*(answer["w"].walk_edges.numpy() for answer in answers))

    def test_the_most_visited_are_pinsages_neighbors(self):
        text = """
            src = nodes(paper, $seeds)
            top = visited(src, cites, 4, length=3, num_walks=30, restart_prob=0.1, columns=[label])
        """
        tops = [graph.prepare(text).run({"seeds": UserIds([5, 6, 7])}, epoch=2)["top"]
                for graph in self.graphs]
        for graph, top in zip(self.graphs, tops):
            offsets = top.offsets.tolist()
            for i, (seed, found) in enumerate(zip([5, 6, 7], lists_of(top))):
                reached, front = set(), {seed}  # what three steps can lead to
                for _ in range(3):
                    front = {int(source) for node in front
                             for source in self.papers.edge_index[0][self.sources(node)]}
                    reached |= front
                counts = top.counts.tolist()[offsets[i]:offsets[i + 1]]
                self.assertLessEqual(set(self.ids(graph, found).tolist()), reached)
                self.assertEqual(len(found), min(4, len(reached)))
                self.assertEqual(counts, sorted(counts, reverse=True))
                self.assertLessEqual(sum(counts), 90)
            numpy.testing.assert_array_equal(top.column("label").numpy(),
                                             self.papers.y[self.ids(graph, top.nodes)])
        self.assertEqual(*(top.counts.tolist() for top in tops))

    def test_personalised_pagerank_is_the_graphs_own(self):
        text = """
            src = nodes(paper, $seeds)
            top = ppr(src, cites, 6, eps=1e-5, weighted_by=weight)
            near = neighbors(top, cites, 2)
        """
        for graph in self.graphs:
            seeds = graph.resolve("paper", [5, 6, 7])
            top = graph.prepare(text).run({"seeds": seeds})["top"]
            nodes, scores, residuals = graph.ppr("paper", seeds, 6, eps=1e-5, edge_types=["paper:cites:paper"],
                                                 weighted_by="weight", residuals=True)
            listed = nodes.numpy() >= 0
            numpy.testing.assert_array_equal(top.nodes.numpy(), nodes.numpy()[listed])
            numpy.testing.assert_array_equal(top.scores.numpy(), scores.numpy()[listed])
            numpy.testing.assert_array_equal(top.residuals.numpy(), residuals.numpy())
            numpy.testing.assert_array_equal(numpy.diff(top.offsets.numpy()), listed.sum(axis=1))

    def test_a_subgraph_of_two_hops_is_ready_for_a_network(self):
        text = """
            src = nodes(paper, $seeds)
            near = neighbors(src, cites, 5)
            far = neighbors(near, cites, 3)
            sub = induced([src, near, far], cites, columns=[features], edge_columns=[weight],
                          edge_ids=true)
        """
        for graph in self.graphs:
            answer = graph.prepare(text).run({"seeds": UserIds([7, 8])})
            sub = answer["sub"]
            papers = self.ids(graph, sub.nodes)
            reached = numpy.concatenate([self.ids(graph, answer[name].nodes)
                                         for name in ("src", "near", "far")])
            self.assertEqual(list(papers), list(dict.fromkeys(reached)))
            joined = numpy.isin(self.papers.edge_index, papers).all(axis=0)
            edges = sub.edge_ids.numpy()
            numpy.testing.assert_array_equal(numpy.sort(edges), numpy.flatnonzero(joined))
            targets = self.ids(graph, sub.targets)
            source, target = sub.edge_index.numpy()
            numpy.testing.assert_array_equal(self.papers.edge_index[:, edges],
                                             [papers[source], targets[target]])
            numpy.testing.assert_array_equal(sub.edge_column("weight").numpy(),
                                             self.papers.weight[edges])
            numpy.testing.assert_array_equal(sub.column("features").numpy(), self.papers.x[papers])

    def test_drawn_nodes_that_meet_a_condition(self):
        # sampleN(node_type, cnt).has(p0 eq 23)
        for graph in self.graphs:
            some = graph.prepare('some = nodes(paper, count=400, where="label = 3")').run()["some"]
            self.assertEqual(set(self.ids(graph, some.nodes)), set(numpy.flatnonzero(
                self.papers.y == 3)) & set(self.ids(graph, some.nodes)))
            self.assertEqual(len(some), 400)
            self.assertGreater(len(set(some.nodes.tolist())), 20)


class GraphLearnTest(unittest.TestCase):
    """Users that buy items. Neighbours of an item along buys are users, of a user along of
    items."""

    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.shop.cluster_file)
        cls.addClassCleanup(cls.graph.close)
        cls.pairs = set(zip(*(ends.tolist() for ends in cls.shop.buys)))

    def users(self, nodes):
        return self.graph.user_ids("user", nodes).tolist()

    def items(self, nodes):
        return [self.shop.names.index(name) for name in self.graph.user_names("item", nodes)]

    def test_neighbors_of_a_batch(self):
        # g.V("user").batch(64).outV("click").sample(10).by("random")
        prepared = self.graph.prepare("""
            src = nodes(user, $batch)
            hop1 = neighbors(src, of, 10, replace=true, columns=[prices])
        """)
        batch = numpy.arange(64)
        answer = prepared.run({"batch": UserIds(batch)})
        for user, found in zip(batch, lists_of(answer["hop1"])):
            bought = {item for buyer, item in self.pairs if buyer == user}
            self.assertEqual(len(found), 10 if bought else 0)
            self.assertLessEqual(set(self.items(found)), bought)
        numpy.testing.assert_array_equal(answer["hop1"].column("prices").numpy(),
                                         self.shop.prices[self.items(answer["hop1"].nodes)])

    def test_two_hops_there_and_back(self):
        # g.V("user").batch(32).shuffle(traverse=True).alias("src").outV("buy").sample(5)
        #   .by("edge_weight").alias("hop1").inE("buy").sample(2).by("random").alias("hop1-hop2")
        #   .inV().alias("hop2").values()
        prepared = self.graph.prepare("""
            src = nodes(user, $batch)
            hop1 = neighbors(src, of, 5)
            hop2 = neighbors(hop1, buys, 2, columns=[x], edge_ids=true)
        """)
        answer = prepared.run({"batch": UserIds(numpy.arange(32))}, epoch=1)
        items = self.items(answer["hop1"].nodes)
        users = self.users(answer["hop2"].nodes)
        sizes = numpy.diff(answer["hop2"].offsets.numpy())
        self.assertLessEqual(set(zip(users, numpy.repeat(items, sizes))), self.pairs)
        edges = answer["hop2"].edge_ids.numpy()
        numpy.testing.assert_array_equal(self.shop.buys[0][edges], users)
        numpy.testing.assert_array_equal(answer["hop2"].column("x").numpy(),
                                         self.shop.x[users])

    def test_links_with_negatives(self):
        # g.E("buy").batch(64).alias("e").each(lambda e: (e.inV().alias("dst"),
        #   e.outV().alias("src").outNeg("buy").sample(10).by("random").alias("neg")))
        prepared = self.graph.prepare(Query()
                                      .nodes("src", "user", "$users")
                                      .nodes("dst", "item", "$items", columns=["prices"])
                                      .negatives("neg", "src", "buys", 10, columns=["prices"]))
        users = self.shop.buys[0][:64]
        items = [self.shop.names[item] for item in self.shop.buys[1][:64]]
        answer = prepared.run({"users": UserIds(users), "items": UserIds(items)})
        negatives = self.items(answer["neg"].nodes)
        self.assertEqual(len(negatives), 640)
        self.assertFalse(set(zip(numpy.repeat(users, 10).tolist(), negatives)) & self.pairs)
        numpy.testing.assert_array_equal(answer["neg"].column("prices").numpy(),
                                         self.shop.prices[negatives])


    def test_negatives_that_share_a_value_with_the_links_target(self):
        #   ... outNeg("buy").sample(10).by("random").where("dst", condition={"int_cols": [0],
        #   "int_props": [.25]})
        prepared = self.graph.prepare("""
            src = nodes(item, $items)
            dst = nodes(user, $users)
            neg = negatives(src, of, 10, like=dst, same=[label], shares=[0.25], columns=[label])
        """)
        users = self.shop.buys[0][:64]
        items = [self.shop.names[item] for item in self.shop.buys[1][:64]]
        answer = prepared.run({"users": UserIds(users), "items": UserIds(items)})
        labels = answer["neg"].column("label").numpy().reshape(64, 10)
        numpy.testing.assert_array_equal(labels[:, :2].T, [self.shop.y[users]] * 2)
        self.assertEqual(set(labels[:, 2:].flatten()), {0, 1, 2})
        pairs = set(zip(self.users(answer["neg"].nodes), numpy.repeat(self.shop.buys[1][:64], 10)))
        self.assertFalse(pairs & self.pairs)
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "64 sources and 1 targets"):
            prepared.run({"users": UserIds(users[:1]), "items": UserIds(items)})


class OutTest(unittest.TestCase):
    """Graphs whose reversed edges are types of their own."""

    def test_papers_that_papers_cite_and_those_that_cite_them(self):
        papers = Papers(more="add_reverse_apart: true")
        self.addCleanup(papers.close)
        query = Query()
        query.nodes("src", "paper", "$seeds")
        query.neighbors("onto", "src", "cites", direction="out", columns=["features"],
                        edge_columns=["weight", "time"], edge_ids=True)
        query.neighbors("late", "src", "cites", direction="out", where="time > 3", edge_ids=True)
        query.neighbors("few", "src", "cites", 3, by="weight", direction="out", edge_ids=True)
        query.neighbors("into", "src", "cites", direction="in", edge_ids=True)
        seeds = [7, 8, 7, 299]
        answers = []
        for graph in (vicinity_graph.Graph(cluster_file=papers.cluster_file),
                      vicinity_graph.Graph(directory=papers.shards)):
            self.addCleanup(graph.close)
            answer = graph.prepare(query).run({"seeds": UserIds(seeds)})
            answers.append(answer)
            for name, end, keep in (("onto", 0, papers.time >= -50), ("late", 0, papers.time > 3),
                                    ("into", 1, papers.time >= -50)):
                lists = [self.list_of(papers, seed, end, keep) for seed in seeds]
                edges = answer[name].edge_ids.numpy()
                numpy.testing.assert_array_equal(edges, numpy.concatenate(lists))
                numpy.testing.assert_array_equal(numpy.diff(answer[name].offsets.numpy()),
                                                 [len(edges) for edges in lists])
                numpy.testing.assert_array_equal(graph.user_ids("paper", answer[name].nodes).numpy(),
                                                 papers.edge_index[1 - end][edges])
            onto = answer["onto"]
            edges = onto.edge_ids.numpy()
            self.assertGreater(len(edges), 10)
            numpy.testing.assert_array_equal(onto.edge_column("weight").numpy(),
                                             papers.weight[edges])
            numpy.testing.assert_array_equal(onto.edge_column("time").numpy(), papers.time[edges])
            numpy.testing.assert_array_equal(onto.column("features").numpy(),
                                             papers.x[papers.edge_index[1][edges]])
            few = answer["few"].edge_ids.numpy()
            self.assertTrue((papers.weight[few] > 0).all())
            numpy.testing.assert_array_equal(
                papers.edge_index[0][few],
                numpy.repeat(seeds, numpy.diff(answer["few"].offsets.numpy())))
        numpy.testing.assert_array_equal(*(answer["few"].edge_ids.numpy() for answer in answers))

    @staticmethod
    def list_of(papers, seed, end, keep):
        """Edges that have the seed at this end, by their other end and then by their number."""
        edges = numpy.flatnonzero((papers.edge_index[end] == seed) & keep)
        return edges[numpy.argsort(papers.edge_index[1 - end][edges], kind="stable")]

    def test_items_that_users_buy(self):
        shop = Shop(more="add_reverse: true")
        self.addCleanup(shop.close)
        graph = vicinity_graph.Graph(cluster_file=shop.cluster_file)
        self.addCleanup(graph.close)
        answer = graph.prepare("""
            src = nodes(user, $users)
            onto = neighbors(src, buys, direction=out, edge_ids=true, columns=[prices])
            also = neighbors(onto, rev_buys, 2, direction=out, edge_ids=true)
        """).run({"users": UserIds(numpy.arange(50))})
        onto, also = answer["onto"], answer["also"]
        self.assertEqual((onto.node_type, also.node_type), ("item", "user"))
        edges = onto.edge_ids.numpy()
        numpy.testing.assert_array_equal(numpy.sort(edges), numpy.flatnonzero(shop.buys[0] < 50))
        numpy.testing.assert_array_equal(shop.buys[0][edges],
                                         numpy.repeat(numpy.arange(50), numpy.diff(onto.offsets)))
        names = graph.user_names("item", onto.nodes)
        self.assertEqual(list(names), [shop.names[item] for item in shop.buys[1][edges]])
        numpy.testing.assert_array_equal(onto.column("prices").numpy(),
                                         shop.prices[shop.buys[1][edges]])
        numpy.testing.assert_array_equal(shop.buys[0][also.edge_ids.numpy()],
                                         graph.user_ids("user", also.nodes).numpy())
        numpy.testing.assert_array_equal(shop.buys[1][also.edge_ids.numpy()],
                                         numpy.repeat(shop.buys[1][edges], numpy.diff(also.offsets)))


class PythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)
        cls.addClassCleanup(cls.graph.close)

    def test_what_is_built_is_what_is_written(self):
        query = Query()
        query.nodes("src", "paper", "$seeds", where='label in (1, 2)', limit=0)
        query.neighbors("near", "src", "cites", 3, by="weight", edge_columns=["time"])
        query.negatives("no", "src", "cites", 2, degree_power=0.75, exact=False,
                        shared=True)
        query.negatives("like", "src", "cites", 8, like="near", same=["label"], shares=[0.25])
        query.layer("all", "near", "cites", 9, square_root=True)
        query.nodes("two", "paper", [1, 2], order_by="id", descending=True)
        query.visited("top", "two", "cites", 3, length=4, num_walks=10, exclude_start=True)
        query.ppr("rank", "two", [], 3, alpha=0.25, max_neighbors=10)
        query.induced("sub", ["two", "near"], "cites", edge_columns=["weight"])
        query.walk("on", "two", ["cites"], 4, restart_prob=0.25, p=2, node_type="paper")
        prepared = self.graph.prepare(query)
        self.assertEqual(str(prepared).splitlines(), [
            'src = nodes(paper, $seeds, where="label in (1, 2)", limit=0)',
            "near = neighbors(src, cites, 3, by=weight, edge_columns=[time])",
            "no = negatives(src, cites, 2, degree_power=0.75, exact=false, shared=true)",
            "like = negatives(src, cites, 8, like=near, same=[label], shares=[0.25])",
            "all = layer(near, cites, 9, square_root=true)",
            "two = nodes(paper, [1, 2], order_by=id, descending=true)",
            "top = visited(two, cites, 3, length=4, num_walks=10, exclude_start=true)",
            "rank = ppr(two, [], 3, alpha=0.25, max_neighbors=10)",
            "sub = induced([two, near], cites, edge_columns=[weight])",
            "on = walk(two, cites, 4, restart_prob=0.25, p=2, node_type=paper)"])
        self.assertEqual(str(self.graph.prepare(str(prepared))), str(prepared))
        self.assertEqual(prepared.inputs, {"seeds": "paper"})
        answer = prepared.run({"seeds": [1, 2]})
        self.assertEqual(len(answer["src"]), 0)
        self.assertEqual(list(answer),
                         ["src", "near", "no", "like", "all", "two", "top", "rank", "sub", "on"])
        self.assertEqual(self.graph.user_ids("paper", answer["two"].nodes).tolist(), [2, 1])
        self.assertIn("two: 2 paper", repr(answer))

    def test_an_epoch_is_batches_in_an_order_of_its_own(self):
        prepared = self.graph.prepare("""
            src = nodes(paper, $seeds)
            dst = nodes(paper, $others)
            near = neighbors(src, cites, 3, edge_ids=true)
        """)
        seeds, others = list(range(100)), list(range(100, 200))

        def epoch(number, **options):
            answers = list(prepared.batches({"seeds": seeds, "others": others}, 16, epoch=number,
                                            **options))
            pairs = [pair for answer in answers
                     for pair in zip(answer["src"].nodes.tolist(), answer["dst"].nodes.tolist())]
            return answers, pairs

        answers, pairs = epoch(1)
        self.assertEqual(sorted(pairs), list(zip(seeds, others)))
        self.assertNotEqual(pairs, sorted(pairs))
        self.assertEqual(epoch(1, ahead=0)[1], pairs)
        self.assertNotEqual(epoch(2)[1], pairs)
        self.assertEqual(epoch(1, shuffle=False)[1], sorted(pairs))
        self.assertEqual(len(epoch(1, drop_last=True)[0]), 6)
        first = [pair[0] for pair in pairs[16:32]]
        again = prepared.run({"seeds": first, "others": [seed + 100 for seed in first]}, epoch=1,
                             batch=1)
        self.assertEqual(again["near"].edge_ids.tolist(), answers[1]["near"].edge_ids.tolist())
        passes = prepared.batches({"seeds": [5, 6, 10**6], "others": [1, 2, 3]}, 1, shuffle=False)
        self.assertEqual(next(passes)["src"].nodes.tolist(), [5])
        self.assertEqual(next(passes)["src"].nodes.tolist(), [6])
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "1000000"):
            next(passes)
        for inputs, size in (({"seeds": [1], "others": [1, 2]}, 1), ({}, 1),
                             ({"seeds": [1], "others": [1]}, 0)):
            with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "all as long"):
                prepared.batches(inputs, size)

    def test_a_cost_is_told_before_anything_runs(self):
        prepared = self.graph.prepare("""
            src = nodes(paper, $seeds)
            near = neighbors(src, cites, 5, where="label = 1", columns=[features])
        """)
        before = self.graph.stats()["rows_remote"]
        costs = prepared.explain({"seeds": 100})
        self.assertEqual(self.graph.stats()["rows_remote"], before)
        self.assertEqual([cost["name"] for cost in costs], ["src", "near"])
        self.assertIn("label of their nodes is read, without an index", costs[1]["does"])
        self.assertGreater(costs[1]["bytes"], 100 * 24)

    def test_errors_name_the_step_and_what_there_is(self):
        for text, error, expected in (
                ("src = nods(paper)", vicinity_graph.InvalidArgument, "line 1, character 7"),
                ("src = nodes(papers)", vicinity_graph.NotFound, "there are paper"),
                ("src = nodes(paper, columns=[x])", vicinity_graph.NotFound, "features"),
                ("src = nodes(paper); on = neighbors(src, cites, direction=out)",
                 vicinity_graph.NotFound, "paper:rev_cites:paper: import it with add_reverse_apart"),
                ("src = nodes(paper); on = neighbors(src, cites, direction=up)",
                 vicinity_graph.InvalidArgument, "expected one of in, out")):
            with self.assertRaisesRegex(error, expected):
                self.graph.prepare(text)
        prepared = self.graph.prepare("src = nodes(paper, $seeds, columns=[label])")
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, r"\$seeds is not given"):
            prepared.run()
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "no step has .more"):
            prepared.run({"seeds": [1], "more": [2]})
        with self.assertRaisesRegex(vicinity_graph.NotFound, "999"):
            prepared.run({"seeds": UserIds([999])})
        answer = prepared.run({"seeds": [1]})
        with self.assertRaisesRegex(vicinity_graph.NotFound, "no step 'dst', but src"):
            answer["dst"]
        with self.assertRaisesRegex(vicinity_graph.NotFound, "label"):
            answer["src"].column("features")
        with self.assertRaisesRegex(vicinity_graph.NotFound, "edge_ids"):
            answer["src"].edge_ids
        with self.assertRaisesRegex(vicinity_graph.NotFound, "it is not induced"):
            answer["src"].edge_index
        with self.assertRaisesRegex(vicinity_graph.NotFound, "it is no walk"):
            answer["src"].walks
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "both kinds of quotes"):
            Query().nodes("src", "a\"'b")
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "is no list"):
            Query().nodes("src", "paper", columns="label").nodes("x", "paper", "seeds")

    def test_arguments_are_those_of_the_text(self):
        """Each keyword of a method is one that the text has, or stands first."""
        first = {
            "nodes": {"node_type", "ids", "count"},
            "neighbors": {"of", "edge_type", "count"},
            "negatives": {"of", "edge_type", "count"},
            "layer": {"of", "edge_type", "count"},
            "walk": {"of", "metapath", "length"},
            "visited": {"of", "metapath", "top"},
            "ppr": {"of", "edge_types", "top"},
            "induced": {"among", "edge_type"},
        }
        for kind, stand_first in first.items():
            with self.assertRaises(vicinity_graph.InvalidArgument) as refused:
                arguments = {"nodes": "paper", "induced": "src, cites"}.get(kind, "src, cites, 1")
                self.graph.prepare(f"src = {kind}({arguments}, not_there=1)")
            known = str(refused.exception).split("one of ")[1].split(", found")[0].split(", ")
            keywords = set(inspect.signature(getattr(Query, kind)).parameters)
            self.assertEqual(keywords - stand_first - {"self", "name"}, set(known) - {"count"})

    def test_answers_outlive_query_and_graph(self):
        graph = vicinity_graph.Graph(directory=self.papers.shards)
        answer = graph.prepare("src = nodes(paper, columns=[features])").run()
        graph.close()
        del graph
        rows = answer["src"].column("features").numpy()
        nodes = answer["src"].nodes.numpy()
        del answer
        self.assertEqual(rows.shape, (300, 6))
        self.assertEqual(sorted(nodes), list(range(300)))


if __name__ == "__main__":
    run_tests()
